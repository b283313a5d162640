#!/bin/sh
# Makes the documents for bench/ablation/readers.py: sh bench/ablation/readers_corpus.sh FOLDER
# Needs poppler-utils, pandoc, groff, weasyprint, libreoffice-writer-nogui, texlive-latex-recommended, fonts-wqy-microhei.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1/made" "$1/found" "$1/deb"
cd "$1/made"

for language in en zh; do
    cat "$root"/examples/notes/lab-*.$language.md > labs.$language.md
    cp "$root/examples/faq/os-faq.$language.md" faq.$language.md
    cp "$root/examples/api/syscalls.$language.md" syscalls.$language.md
done
cat "$root"/docs/ingest.md "$root"/docs/kernel.md "$root"/docs/deploy.md "$root"/docs/models.md > docs.en.md

cat > style.css <<'CSS'
@page { size: A4; margin: 25mm; @top-center { content: "Operating systems course" } @bottom-center { content: counter(page) } }
body { font: 10.5pt "DejaVu Serif", "WenQuanYi Micro Hei"; text-align: justify; hyphens: auto }
pre, code { font-family: "DejaVu Sans Mono"; font-size: 9pt }
table { border-collapse: collapse } td, th { border: 0.5pt solid black; padding: 2pt 4pt }
CSS
for name in labs.en faq.zh syscalls.zh docs.en; do # a browser's way: running heads, page numbers, ruled tables
    pandoc -f gfm -s --metadata title=" " --metadata lang="${name#*.}" -c style.css $name.md -o w-$name.html
    weasyprint -q w-$name.html w-$name.pdf
done
for name in labs.zh faq.en syscalls.en docs.en; do # a word processor's way: no outline, tables hardly ruled
    pandoc -f gfm $name.md -o o-$name.docx
    soffice --headless --convert-to pdf o-$name.docx > /dev/null
done
for name in labs.en docs.en; do
    pandoc -f gfm -s -t ms $name.md | groff -Tpdf -ms -Kutf8 -t > g-$name.pdf
done
latex() { # LaTeX without Unicode; its source has a name of its own
    sed 's/[^\x00-\x7F]//g' "$2.md" > "l-$2.md"
    pandoc -f gfm -s -V classoption="$3" "l-$2.md" -o "$1-$2.tex"
    pdflatex -interaction=batchmode "$1-$2.tex" > /dev/null || true
    pdflatex -interaction=batchmode "$1-$2.tex" > /dev/null || true
}
latex l labs.en twocolumn
latex l faq.en twocolumn
latex k docs.en onecolumn

cd ../deb
apt-get download bash-doc debian-policy debian-reference-zh-cn developers-reference flex-doc groff maint-guide-zh-cn \
    mit-scheme-doc texlive-latex-recommended-doc nettle-dev valgrind bzip2-doc libtasn1-doc zlib1g-dev
for package in *.deb; do dpkg-deb -x "$package" .; done
find . \( -name bash.pdf -o -name 'fhs-3.0.pdf*' -o -name 'policy.pdf*' -o -name 'debian-reference.zh-cn.pdf' \
    -o -name 'developers-reference.pdf' -o -name 'flex.pdf*' -o -name 'mom-pdf.pdf*' -o -name 'pdfmark.pdf*' \
    -o -name 'maint-guide.zh-cn.pdf' -o -name 'mit-scheme-user.pdf*' -o -name 'beamerexample-lecture-beamer-version.pdf' \
    -o -name booktabs.pdf -o -name caption.pdf -o -name microtype.pdf -o -name ctable.pdf -o -name listings.pdf \
    -o -name rcs-user.pdf -o -name memman.pdf -o -name 'crc-doc*.pdf*' -o -name 'nettle.pdf*' -o -name libtasn1.pdf \
    -o -name 'valgrind_manual.pdf*' -o -name 'manual.pdf*' \) -type f -exec cp {} ../found \;
gunzip -f ../found/*.gz
