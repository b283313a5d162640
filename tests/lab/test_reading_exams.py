"""Exercises as exams word them: what each of these texts has in common with others was once misread."""

import pytest

from osrag.lab.reading import read
from osrag.lab.reading.plain import plain

MATRICES = "\n\nAllocation\n    X Y Z\nP1  1 0 2\nP2  0 3 1\n\nMax\n    X Y Z\nP1  3 0 3\nP2  1 4 1\n\n"
BUDDY = "伙伴系统管理512KB内存，依次：A申请60KB，B申请100KB，释放A，C申请30KB，释放B，释放C。"
SEGMENTS = "Segment  Base  Limit\n0  300  450\n1  1200  40\n2  60  90\n\n"


@pytest.mark.parametrize(
    ("text", "kind", "values"),
    [
        # Cells with words in brackets, and clocks with seconds.
        ("Preemptive priority scheduling is used.\n\nProcess  Priority     CPU time  Arrival time (hh:mm:ss)\n"
         "A        12 (highest) 8 sec     00:01:04\nB        11           6 sec     00:01:02\n"
         "C        7 (lowest)   9 sec     00:01:00\n\nWhat is the average turnaround time?",
         "priority", {"jobs": "A 4 8 12; B 2 6 11; C 0 9 7", "urgent": "large_number"}),
        ("采用抢占式优先级调度。\n进程  优先级    运行时间  到达时刻\nA  1（最高）  8秒  09:00:04\n"
         "B  2  6秒  09:00:01\nC  5（最低）  9秒  09:00:00\n平均周转时间是多少？",
         "priority", {"jobs": "A 4 8 1; B 1 6 2; C 0 9 5", "urgent": "small_number"}),
        ("Jobs P, Q, R of 7, 3 and 9 minutes arrive together. Their priorities are 2, 6 and 4, with 6 being the "
         "highest. Each runs until it finishes. Mean turnaround time under priority scheduling?",
         "priority", {"jobs": "P 0 7 2; Q 0 3 6; R 0 9 4", "urgent": "large_number"}),
        # Lists whose items have names, and a value that stands before its name.
        ("Exponential averaging with α = 0.25 predicts CPU bursts. The first prediction is τ0 = 8 ms; the bursts were "
         "t0 = 4 ms, t1 = 12 ms, t2 = 8 ms. What is the next prediction?",
         "burst_prediction", {"bursts": "4,12,8", "first_guess": "8"}),
        ("用指数平均法预测CPU区间，α=0.5，初始预测值为12ms，进程前三次实际区间长度分别为t1=8、t2=6、t3=10，求下一次的预测值。",
         "burst_prediction", {"bursts": "8,6,10", "first_guess": "12"}),
        ("Exponential averaging, α = 0.5; the CPU bursts so far were 6, 10 and 8 ms. What is the next prediction? "
         "(Use the first burst, 6, as the first guess.)", "burst_prediction", {"bursts": "6,10,8", "first_guess": "6"}),
        # What a definition names is not asked for.
        ("With three frames and FIFO, the hit ratio, defined as the number of page hits divided by the number of "
         "references, for 1, 2, 3, 1, 4, 1, 2 is ____.", "fifo", {"ask": "hit_ratio"}),
        ("页面走向为1、2、3、1、4、1、2，3个物理块，LRU，缺页率即缺页次数与访问次数之比是多少？",
         "lru", {"ask": "fault_rate"}),
        # Lettered pairs, and what may be done with a segment.
        (SEGMENTS + "Translate the logical addresses\n(i) 0,120\n(ii) 1,35\n(iii) 2,500",
         "segments", {"addresses": "0 120; 1 35; 2 500"}),
        ("段表如下。\n段号  基址  段长\n0  300  450\n1  1200  40\n2  60  90\n"
         "求下列逻辑地址（段号，段内偏移）的物理地址：\n① 0，120\n② 1，35\n③ 2，500",
         "segments", {"addresses": "0 120; 1 35; 2 500"}),
        ("某进程段表：\n段号  段长  始址  权限\n0  200  4000  只读\n1  90  2600  可读可写\n逻辑地址(1, 95)的物理地址？",
         "segments", {"segments": "0 4000 200 r; 1 2600 90 rw"}),
        ("Segment  Base  Limit  Protection\n0  4000  200  read-only\n1  2600  90  read/write\n"
         "Which physical address belongs to <1, 45>?", "segments", {"segments": "0 4000 200 r; 1 2600 90 rw"}),
        # How many resources there are.
        (f"For deadlock avoidance consider these matrices; only 2 instances of X and 1 instance of Z are available."
         f"{MATRICES}Is the state safe?", "banker", {"available": "2,0,1"}),
        ("系统有R、S两类资源各7个，T0时刻如下：\n进程  R已分配  S已分配  R最大需求  S最大需求\nP1  2  1  4  3\n"
         "P2  3  2  5  6\nP3  1  1  2  4\n系统是否安全？", "banker", {"total": "7,7"}),
        ("There are 9 units each of resources A and B.\nProcess  Allocation  Max\n         A B         A B\n"
         "P1       2 3         5 6\nP2       4 1         6 2\nIs the system in a safe state?",
         "banker", {"total": "9,9"}),
        ("进程A、B、C共享同类资源10个，最大需求分别为6、4、7个，系统已分别分配给它们3、2、2个，此时系统是否安全？",
         "banker", {"allocation": "3; 2; 2", "total": "10"}),
        ("Total\nR1 R2 R3\n6 5 9\n\nThread  Current  Maximum\n        R1 R2 R3  R1 R2 R3\nT1  1 0 2  3 2 4\n"
         "T2  2 1 1  2 4 6\nIs this a safe state?", "banker", {"total": "6,5,9", "allocation": "1 0 2; 2 1 1"}),
        ("R1 and R2 have one instance each, R3 has two. P1 -> R1, R1 -> P2, P2 -> R2, R2 -> P1. "
         "Is there a deadlock in this graph?", "resource_graph", {"units": "R1=1,R2=1"}),
        # The state after one of several operations.
        ("A 512 KB memory is managed with the buddy system. Request A = 60K; Request B = 100K; Request C = 30K; "
         "Release A; Release C; Request D = 20K; Release B. How many free blocks are there right after C has been "
         "released?", "buddy", {"operations": "A 60K; B 100K; C 30K; A -; C -"}),
        (f"{BUDDY}问释放B之后最大空闲块多大？", "buddy", {"operations": "A 60K; B 100K; A -; C 30K; B -"}),
        (f"{BUDDY}在为C分配内存之后，空闲块有哪些？", "buddy", {"operations": "A 60K; B 100K; A -; C 30K"}),
        # What is read is a sector.
        ("某硬盘转速为5400转/分，平均寻道时间为10ms，每磁道500个扇区，读一个扇区的平均时间约为多少？",
         "disk_track_time", {"bytes_each": "512"}),
        ("A disk rotates at 6000 rpm, its average seek time is 5 ms, and each track has 250 sectors. "
         "What is the average time to access one sector?", "disk_track_time", {"bytes_each": "512"}),
        # A buffer that is compared with a block does not count buffers.
        ("某文件占8个磁盘块，一个缓冲区的大小与一个磁盘块相同。把一个磁盘块读入缓冲区用80μs，缓冲区的数据送到用户区用30μs，"
         "CPU处理一块数据用60μs。采用双缓冲时，处理完该文件用多少时间？", "buffers", {"buffers": "double_buffer"}),
        ("4 jobs arrive at about the same time 0, in the order W, X, Y, Z on a machine with one processor, and each "
         "requires 12 seconds. Round robin with a slice of 3 seconds: average response time?",
         "rr", {"jobs": "W 0 12; X 0 12; Y 0 12; Z 0 12"}),
        # Programs as functions.
        ("共享变量y初值为5。\nA(){ y = y + 2; }\nB(){ y = y - 2; }\n两个进程并发执行后y可能的值有哪些？",
         "semaphores", {"variables": "y=5", "concurrent": "A: y = y + 2 || B: y = y - 2"}),
        ("Two processes share x, initially 3:\nP(){ x = x * 2; }\nQ(){ x = x + 1; }\n"
         "What are the possible final values of the shared variable x?", "semaphores", {"variables": "x=3"}),
        ('int i = 2;\nwhile (i > 0) { fork(); printf("x"); i--; }\nHow often is printf executed in all processes?',
         "fork", {"buffering": "none"}),
        ("The root's inode is not cached, and each directory fits in one block. "
         "How many disk reads does it take to open /usr/lib/os.txt and read one block?",
         "path_lookup", {"root_inode": "on_disk"}),
        ("Six disks form a RAID-5 array, and each can do 150 random I/Os per second. "
         "How many I/Os per second does the array reach if all requests are small writes?",
         "raid", {"read_percent": "0", "ask": "host_requests"}),
        ("6块磁盘组成RAID 5，每块磁盘每秒可完成150次I/O。若全是小写请求，阵列每秒能完成多少个请求？",
         "raid", {"read_percent": "0", "ask": "host_requests"}),
        ("磁头正在90号磁道上服务，刚刚完成的是70号磁道的请求。按先来先服务顺序等待的请求为 120、40、150、60、95，"
         "磁道编号0～199，采用LOOK算法，磁头共移动多少个磁道？", "look", {"previous": "70", "start": "90"}),
        ("The head is at track 50 and moves to the right; tracks 95, 20, 180 and 34 are requested. C-LOOK: total head "
         "movement?", "clook", {"direction": "up"}),
        ("16-bit virtual addresses: 4 bits of page directory index, 4 bits of page table index, 8 bits of offset.\n"
         "Directory  Table  Frame\n2  1  0x3A\n2  3  0x10\n5  0  0x7F\nTranslate 0x2344 to a physical address.",
         "translate", {"entries": "2 1 0x3A; 2 3 0x10; 5 0 0x7F"}),
    ],
)  # fmt: skip
def test_an_exam_is_read(text: str, kind: str, values: dict[str, str]) -> None:
    reading = read(text)
    assert reading is not None
    assert (reading.kind.name, reading.values | values) == (kind, reading.values)
    assert reading.solved().answer is not None


@pytest.mark.parametrize(
    "text",
    [
        "10 P and 6 V operations are performed on a semaphore. What is the largest initial value for which one waits?",
        "4个进程共享一个信号量，同时最多允许2个进程进入，信号量当前值的变化范围是多少？",
        "A processor of 500 MHz has a CPI of 4 and polls a device 3000 times a second, 100 instructions each time. "
        "What fraction of the CPU time is spent on polling?",
    ],
)
def test_what_the_lab_does_not_compute_is_no_exercise(text: str) -> None:
    reading = read(text)
    assert reading is None or reading.solved().answer is None


def test_a_list_of_thousands_is_no_list_of_pairs() -> None:
    assert plain("Addresses:\na. 1,500\nb. 2,750") == "Addresses:\na. 1500\nb. 2750"
