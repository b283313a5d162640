// The lab tab: sends what the visitor changes, shows what comes back, and plays drawings step by step.
// Runs after osrag.js as js_on_load of the tab's gr.HTML, so `element` and `server` are given.
{
  const WAIT_MS = 90; // after a key, before the form is computed
  const PLAY_MS = 1100; // a step of a drawing that plays
  const SHRINK = 0.85; // of a drawing that is too wide; below that it scrolls
  const root = element.querySelector('.lb');
  const lang = () => (document.documentElement.lang.startsWith('en') ? 'en' : 'zh');
  const find = (css) => root.querySelector(css);
  const state = { kind: '', mode: 'compute', level: 'easy', seed: 1, link: {}, markdown: '', exercise: {}, turn: 0, needs: [], pasted: null };
  let timer = 0;
  let playing = 0;

  const copy = async (text, button) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const box = Object.assign(document.createElement('textarea'), { value: text });
      document.body.append(box);
      box.select();
      document.execCommand('copy');
      box.remove();
    }
    const before = button.dataset.before || button.textContent;
    button.dataset.before = before;
    button.textContent = button.closest('[data-done]').dataset.done;
    setTimeout(() => { button.textContent = before; }, 1500);
  };

  // ---- the form and its result

  const values = () => Object.fromEntries(new FormData(find('.lb-form')));

  const showFaults = (faults) => {
    for (const line of root.querySelectorAll('.lb-form .lb-fault')) {
      const field = line.dataset.for;
      const text = faults[field] || '';
      line.textContent = text;
      line.hidden = !text;
      const box = field && find(`#lb-${CSS.escape(field)}`);
      if (!box) continue;
      box.setAttribute('aria-invalid', text ? 'true' : 'false');
      if (text && line.closest('details')) line.closest('details').open = true;
    }
    const known = (name) => name && find(`.lb-form .lb-fault[data-for="${CSS.escape(name)}"]`);
    const others = Object.keys(faults).filter((name) => name && !known(name)).map((name) => `${name}: ${faults[name]}`);
    const head = find('.lb-form .lb-fault[data-for=""]');
    if (others.length) {
      head.textContent = [head.textContent, ...others].filter(Boolean).join(' ');
      head.hidden = false;
    }
  };

  const show = (found) => {
    showFaults(found.faults);
    const box = find('.lb-result');
    box.classList.toggle('is-stale', !found.result && box.querySelector('.lb-answer') !== null);
    if (!found.result) return;
    stop();
    box.innerHTML = found.result;
    state.link = found.link;
    state.markdown = found.markdown;
    const figure = box.querySelector('.lb-figure');
    if (figure) ready(figure);
  };

  const compute = async () => {
    const turn = ++state.turn;
    const found = await server.lab_solve({ kind: state.kind, values: values(), needs: state.needs, lang: lang() });
    if (turn === state.turn) show(found);
  };

  const voices = async () => {
    const [kind, spoken] = [state.kind, lang()];
    const found = await server.lab_voices({ kind, lang: spoken });
    if (kind === state.kind && spoken === lang()) find('.lb-voices').innerHTML = found.html;
  };

  // The whole tab anew: another kind, another language, or values from a link.
  const draw = async (asked) => {
    const turn = ++state.turn;
    state.drawn = lang();
    state.needs = asked.needs || [];
    const found = await server.lab_page({ kind: state.kind, lang: state.drawn, ...asked });
    if (turn !== state.turn) return;
    if (found.error && find('.lb-form')) {
      show(found);
      return;
    }
    root.innerHTML = found.html;
    if (found.error) return;
    showPasted();
    state.kind = found.kind;
    state.posed = '';
    show(found);
    find('.lb-level').value = state.level;
    setMode(state.mode);
    voices();
  };

  const setMode = (mode) => {
    state.mode = mode;
    stop();
    find('.lb-compute').hidden = mode !== 'compute';
    find('.lb-practice').hidden = mode !== 'practise';
    for (const one of root.querySelectorAll('[data-mode]')) {
      one.setAttribute('aria-selected', one.dataset.mode === mode ? 'true' : 'false');
    }
    if (mode === 'practise') pose();
  };

  // ---- playing a drawing

  const stop = () => {
    clearInterval(playing);
    playing = 0;
    for (const one of root.querySelectorAll('[data-play="play"]')) one.setAttribute('aria-pressed', 'false');
  };

  const current = (figure) => Number(figure.querySelector('input[type=range]').value);

  const goTo = (figure, step) => {
    const last = Number(figure.dataset.steps);
    const at = Math.max(0, Math.min(last, step));
    figure.querySelector('input[type=range]').value = at;
    figure.querySelector('output').textContent = `${at} / ${last}`;
    for (const group of figure.querySelectorAll('g[data-step]')) {
      const gone = 'until' in group.dataset && at >= Number(group.dataset.until);
      group.style.visibility = Number(group.dataset.step) <= at && !gone ? '' : 'hidden';
    }
    const rows = figure.parentElement.querySelectorAll('.lb-steps [data-at]');
    let told = '';
    for (const row of rows) {
      const place = Number(row.dataset.at);
      row.classList.toggle('is-now', place === at);
      row.classList.toggle('is-later', place > at);
      if (place === at) told = row.querySelector('.lb-why').textContent;
    }
    figure.querySelector('.lb-say').textContent = told;
    return at;
  };

  const ready = (figure) => {
    goTo(figure, Number(figure.dataset.steps));
    const svg = figure.querySelector('.lb-canvas svg');
    if (!svg) return;
    const [whole, room] = [Number(svg.getAttribute('width')), svg.parentElement.clientWidth];
    svg.style.width = room && whole > room ? `${Math.max(room, SHRINK * whole)}px` : '';
  };

  const play = (figure, how) => {
    const last = Number(figure.dataset.steps);
    if (how === 'play') {
      if (playing) { stop(); return; }
      if (current(figure) >= last) goTo(figure, 0);
      figure.querySelector('[data-play="play"]').setAttribute('aria-pressed', 'true');
      playing = setInterval(() => { if (goTo(figure, current(figure) + 1) >= last) stop(); }, PLAY_MS);
      return;
    }
    stop();
    goTo(figure, { first: 0, back: current(figure) - 1, next: current(figure) + 1, last }[how]);
  };

  const KEYS = { ArrowLeft: 'back', ArrowRight: 'next', Home: 'first', End: 'last', ' ': 'play' };
  const editable = (target) => target.closest?.('input, select, textarea, button, a, summary, [contenteditable]');
  document.addEventListener('keydown', (event) => {
    const how = KEYS[event.key];
    if (!how || !element.isConnected || !element.offsetParent || event.altKey || event.ctrlKey || event.metaKey) return;
    const inside = root.contains(event.target);
    if (editable(event.target) || !(inside || event.target === document.body)) return;
    if (!inside && !event.key.startsWith('Arrow')) return; // Home, End and space scroll the page elsewhere
    const figure = [...root.querySelectorAll('.lb-figure')].find((one) => one.offsetParent);
    if (!figure) return;
    event.preventDefault();
    play(figure, how);
  });

  // ---- downloads

  const save = (name, href) => {
    const link = Object.assign(document.createElement('a'), { href, download: `osrag-${state.kind}.${name}` });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(href), 10_000);
  };

  // The drawing as it stands, with the steps that are not yet shown left out.
  const drawing = (figure) => {
    const made = figure.querySelector('svg').cloneNode(true);
    for (const group of made.querySelectorAll('g')) if (group.style.visibility === 'hidden') group.remove();
    return new Blob([new XMLSerializer().serializeToString(made)], { type: 'image/svg+xml' });
  };

  const savePng = (figure) => {
    const source = figure.querySelector('svg');
    const width = Number(source.getAttribute('width'));
    const height = Number(source.getAttribute('height'));
    const scale = Math.min(3, 8000 / Math.max(width, height));
    const image = new Image();
    const href = URL.createObjectURL(drawing(figure));
    image.onload = () => {
      const canvas = Object.assign(document.createElement('canvas'), { width: width * scale, height: height * scale });
      const pen = canvas.getContext('2d');
      pen.fillStyle = '#fffdf8';
      pen.fillRect(0, 0, canvas.width, canvas.height);
      pen.drawImage(image, 0, 0, canvas.width, canvas.height);
      URL.revokeObjectURL(href);
      canvas.toBlob((blob) => save('png', URL.createObjectURL(blob)), 'image/png');
    };
    image.src = href;
  };

  const tool = (button) => {
    const figure = button.closest('.lb-figure');
    if (button.dataset.tool === 'svg') save('svg', URL.createObjectURL(drawing(figure)));
    if (button.dataset.tool === 'png') savePng(figure);
    if (button.dataset.tool === 'markdown') copy(state.markdown, button);
  };

  const address = (query) => `${location.origin}${location.pathname}?${new URLSearchParams(query)}`.replaceAll('%2C', ',');

  // ---- practice

  const asked = () => ({ kind: state.kind, level: state.level, seed: state.seed, lang: lang() });

  const pose = async () => {
    const key = JSON.stringify(asked());
    if (state.posed === key && find('.lb-exercise').innerHTML) return;
    state.posed = key;
    const found = await server.lab_exercise(asked());
    if (state.posed !== key) return;
    find('.lb-exercise').innerHTML = found.html;
    if (found.error) state.posed = ''; // a refusal may be tried again
  };

  const cells = () => [...root.querySelectorAll('.lb-trace tbody tr')].map(
    (row) => [...row.querySelectorAll('[data-cell]')].map((cell) => cell.value));

  const check = async (choice) => {
    const found = await server.lab_grade({
      ...asked(),
      rows: cells(),
      text: find('.lb-trace-text')?.value || '',
      answer: find('.lb-typed').value,
      choice,
    });
    find('.lb-verdict').innerHTML = found.html;
    for (const cell of root.querySelectorAll('.lb-trace .is-bad')) cell.classList.remove('is-bad');
    const rows = root.querySelectorAll('.lb-trace tbody tr');
    if (found.row !== null) rows[found.row]?.querySelectorAll('[data-cell]')[found.column]?.classList.add('is-bad');
  };

  const solution = async () => {
    const found = await server.lab_exercise({ ...asked(), solve: true });
    const box = find('.lb-shown');
    box.innerHTML = found.error ? found.html : found.result;
    state.markdown = found.markdown;
    const figure = box.querySelector('.lb-figure');
    if (figure) ready(figure);
  };

  const fresh = () => {
    stop();
    state.seed = 1 + Math.floor(Math.random() * 999_999);
    pose();
  };

  const take = async () => {
    const found = await server.lab_exercise({ ...asked(), solve: true });
    if (found.error) {
      find('.lb-verdict').innerHTML = found.html;
      return;
    }
    state.mode = 'compute';
    await draw({ values: found.link });
  };

  // A table from a spreadsheet, pasted into one cell, fills the cells to the right and below.
  element.addEventListener('paste', (event) => {
    const cell = event.target.closest('[data-cell]');
    const text = event.clipboardData.getData('text');
    if (!cell || !/[\t\n|]/.test(text.trim())) return;
    event.preventDefault();
    const rows = [...root.querySelectorAll('.lb-trace tbody tr')].map((row) => [...row.querySelectorAll('[data-cell]')]);
    const top = rows.findIndex((row) => row.includes(cell));
    const left = rows[top].indexOf(cell);
    text.trim().split('\n').forEach((line, down) => {
      line.replace(/^\s*\||\|\s*$/g, '').split(/[\t|]/).forEach((value, right) => {
        const to = rows[top + down]?.[left + right];
        if (to) to.value = value.trim();
      });
    });
  });

  // ---- a pasted exercise

  const showPasted = () => {
    if (!state.pasted) return;
    find('.lb-paste').open = true;
    find('.lb-paste textarea').value = state.pasted.text;
    find('.lb-readings').innerHTML = state.pasted.html;
    for (const one of root.querySelectorAll('[data-reading]')) {
      one.setAttribute('aria-pressed', Number(one.dataset.reading) === state.pasted.chosen ? 'true' : 'false');
    }
  };

  const openReading = (place) => {
    state.pasted.chosen = place;
    const { kind, values: given, needs } = state.pasted.readings[place];
    Object.assign(state, { kind, mode: 'compute' });
    draw({ values: given, needs });
  };

  const read = async () => {
    const { value } = find('.lb-paste textarea');
    if (!value.trim()) return;
    state.pasted = { text: value, chosen: 0, ...await server.lab_read({ text: value, lang: lang() }) };
    if (state.pasted.readings.length) openReading(0);
    else showPasted();
    if (!state.pasted.doubtful) return;
    const { pasted } = state; // the model takes some seconds; what the visitor does meanwhile stays
    const more = await server.lab_read_on({ text: value, lang: lang() });
    if (state.pasted !== pasted) return;
    if (more.error) {
      pasted.html += more.html;
      showPasted();
      return;
    }
    Object.assign(pasted, more);
    if (pasted.touched) showPasted();
    else openReading(pasted.chosen);
  };

  // ---- events

  const act = {
    example: () => { state.seed = 1 + Math.floor(Math.random() * 999_999); draw({ seed: state.seed }); },
    link: (button) => copy(address(state.link), button),
    new: fresh,
    twin: fresh,
    read,
    check: () => check(null),
    solution,
    take,
    share: (button) => copy(address({ lab: state.kind, exercise: `${state.level}-${state.seed}` }), button),
  };

  element.addEventListener('input', (event) => {
    if (event.target.closest('.lb-form')) {
      if (state.pasted) state.pasted.touched = true;
      clearTimeout(timer);
      timer = setTimeout(compute, event.target.tagName === 'SELECT' ? 0 : WAIT_MS);
    }
    if (event.target.matches('.lb-figure input[type=range]')) {
      stop();
      goTo(event.target.closest('.lb-figure'), Number(event.target.value));
    }
  });

  element.addEventListener('change', (event) => {
    const target = event.target;
    if (target.matches('.lb-topic, .lb-kind')) {
      Object.assign(state, { kind: target.value, pasted: null });
      draw({ values: null });
    }
    if (target.matches('.lb-level')) { state.level = target.value; fresh(); }
    if (target.matches('[name=lb-choice]')) check(Number(target.value));
  });

  element.addEventListener('submit', (event) => event.preventDefault());

  element.addEventListener('click', (event) => {
    const button = event.target.closest('button');
    const row = event.target.closest('.lb-steps [data-at]');
    if (row) {
      const figure = row.closest('.lb-result, .lb-shown').querySelector('.lb-figure');
      stop();
      goTo(figure, Number(row.dataset.at));
    }
    if (!button || !root.contains(button)) return;
    if (button.dataset.mode) setMode(button.dataset.mode);
    if (button.dataset.play) play(button.closest('.lb-figure'), button.dataset.play);
    if (button.dataset.tool) tool(button);
    if (button.dataset.reading) openReading(Number(button.dataset.reading));
    if (button.dataset.act) act[button.dataset.act](button);
  });

  new MutationObserver(() => {
    if (state.drawn === lang()) return;
    draw(find('.lb-form') ? { values: values(), needs: state.needs } : state.first);
  }).observe(document.documentElement, { attributes: true, attributeFilter: ['lang'] });

  // The exercise of a link: `?lab=lru&frames=3`, or `?lab=lru&exercise=easy-7` to practise.
  const openLink = (search) => {
    const { lab, exercise, ...given } = Object.fromEntries(new URLSearchParams(search));
    const named = /^(easy|medium|hard)-(\d+)$/.exec(exercise || '');
    Object.assign(state, { kind: lab || '', mode: 'compute', pasted: null });
    if (named) Object.assign(state, { mode: 'practise', level: named[1], seed: Number(named[2]) });
    state.first = { values: lab ? given : null };
    draw(state.first);
  };

  document.addEventListener('osrag-lab', (event) => { if (element.isConnected) openLink(event.detail); });
  openLink(window.osragLab ?? location.search);
}
