// The evidence panel: open a page picture, zoom it, follow a citation to its card.
// Runs as js_on_load of the panel's gr.HTML, so `element` and `server` are given.
const open = async (button) => {
  const card = button.closest('.ev-card');
  const box = card.querySelector('.ev-picture');
  if (!box.hidden) {
    box.hidden = true;
    button.textContent = button.dataset.show;
    button.setAttribute('aria-expanded', 'false');
    return;
  }
  box.hidden = false;
  button.setAttribute('aria-expanded', 'true');
  button.textContent = button.dataset.hide;
  if (box.dataset.done) return;
  box.textContent = button.dataset.wait;
  const found = await server.page_of({ chunk: card.dataset.chunk, lang: document.documentElement.lang });
  box.textContent = '';
  box.dataset.done = found.error ? '' : '1'; // a refusal may be tried again
  for (const page of found.pages) {
    const image = new Image();
    image.src = page.src;
    image.alt = page.alt;
    box.append(image);
  }
  if (found.message) {
    const line = document.createElement('p');
    line.textContent = found.message;
    box.append(line);
  }
};

const zoom = (image) => {
  const veil = document.createElement('div');
  veil.id = 'os-zoom';
  veil.append(Object.assign(new Image(), { src: image.src, alt: image.alt }));
  const close = () => { veil.remove(); document.removeEventListener('keydown', key); };
  const key = (event) => { if (event.key === 'Escape') close(); };
  veil.addEventListener('click', close);
  document.addEventListener('keydown', key);
  document.body.append(veil);
};

// The lines of one block without their numbers.
const copyCode = async (button) => {
  const rows = [...button.parentElement.querySelectorAll('.cd-line')];
  const text = rows.map((row) => (row.textContent === ' ' ? '' : row.textContent)).join('\n');
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const box = Object.assign(document.createElement('textarea'), { value: text });
    document.body.append(box);
    box.select();
    document.execCommand('copy');
    box.remove();
  }
  const before = button.textContent;
  button.textContent = button.dataset.done;
  setTimeout(() => { button.textContent = before; }, 1500);
};

// Callers, callees, uses of a field: fetched once for each button (and field), and folded away by a second click.
const reach = async (button) => {
  const row = button.parentElement;
  const box = row.querySelector(':scope > .cd-reached');
  const field = row.querySelector(':scope > .cd-field')?.value || '';
  const key = `${button.dataset.relation} ${field}`;
  const closing = box.dataset.key === key && !box.hidden;
  for (const one of row.querySelectorAll(':scope > .cd-reach')) one.setAttribute('aria-expanded', 'false');
  box.hidden = closing;
  if (closing) return;
  button.setAttribute('aria-expanded', 'true');
  if (box.dataset.key === key) return;
  box.dataset.key = key;
  const { name, file } = row.dataset;
  const found = await server.reached_from({ name, file, relation: button.dataset.relation, field, lang: document.documentElement.lang });
  if (box.dataset.key !== key) return;
  box.innerHTML = found.html;
  if (found.error) box.dataset.key = '';
};

// Ask the kernel: the source is switched, the question typed and sent, as a visitor would; then the source stands as before.
const askKernel = (text) => {
  const box = document.querySelector('#os-question textarea');
  const before = document.querySelector('#os-source input:checked')?.value;
  const choose = (source) => document.querySelector(`#os-source input[value="${source}"]`)?.click();
  choose('kernel');
  box.value = text;
  box.dispatchEvent(new Event('input', { bubbles: true }));
  setTimeout(() => {
    document.querySelector('#os-send').click();
    setTimeout(() => choose(before), 300);
  }, 200);
};

// A link to a walk-through asks for it by its title.
document.addEventListener('click', (event) => {
  const link = event.target.closest('a[href="#walk"]');
  if (!link || event.defaultPrevented) return;
  event.preventDefault();
  askKernel(link.textContent);
}, true);

element.addEventListener('click', (event) => {
  const reaching = event.target.closest('.cd-reach');
  if (reaching) reach(reaching);
  const walk = event.target.closest('.ev-walk');
  if (walk) askKernel(walk.dataset.ask);
  const button = event.target.closest('.ev-page');
  if (button) open(button);
  const image = event.target.closest('.ev-picture img');
  if (image) zoom(image);
  const copy = event.target.closest('.cd-copy');
  if (copy) copyCode(copy);
});

// On a phone the evidence lies far below the answer: a button leads back to the citation that was followed.
const offerWayBack = (link) => {
  document.querySelector('#os-back')?.remove();
  const from = link.closest('#os-chat, #qz-verdict, #qz-hints, #qz-explanation') || link;
  const button = document.createElement('button');
  button.id = 'os-back';
  button.type = 'button';
  button.textContent = document.querySelector('.os-brand')?.dataset.back || '';
  const here = () => { const at = from.getBoundingClientRect(); return at.bottom > 80 && at.top < window.innerHeight - 80; };
  let left = false;
  const watch = () => {
    if (!here()) left = true;
    else if (left) leave();
  };
  const leave = () => { button.remove(); window.removeEventListener('scroll', watch); };
  button.addEventListener('click', () => {
    leave();
    (link.isConnected ? link : from).scrollIntoView({ behavior: 'smooth', block: 'center' });
  });
  window.addEventListener('scroll', watch, { passive: true });
  document.body.append(button);
};

document.addEventListener('click', (event) => {
  const link = event.target.closest('a[href^="#ev-"]');
  if (!link) return;
  event.preventDefault();
  if (!element.offsetParent) return; // the panel of a tab that is not shown
  const card = element.querySelector(link.getAttribute('href'));
  if (!card) return;
  if (window.innerWidth <= 760) offerWayBack(link);
  card.scrollIntoView({ behavior: 'smooth', block: card.offsetHeight < window.innerHeight ? 'center' : 'start' });
  card.classList.add('is-lit');
  setTimeout(() => card.classList.remove('is-lit'), 1800);
  const whole = card.querySelector('.cd-all');
  if (whole && !card.querySelector(':scope > .cd-box')) whole.open = true;
  const button = card.querySelector('.ev-page[aria-expanded="false"]');
  if (button) open(button);
}, true);

// A link below an answer asks the same question of another source; the choice then stands at automatic again.
document.addEventListener('click', (event) => {
  const link = event.target.closest('a[href^="#ask-"]');
  if (!link || event.defaultPrevented) return;
  event.preventDefault();
  const choose = (source) => document.querySelector(`#os-source input[value="${source}"]`)?.click();
  choose(link.getAttribute('href').slice('#ask-'.length));
  setTimeout(() => {
    document.querySelector('#os-retry')?.click();
    setTimeout(() => choose('auto'), 300);
  }, 100);
}, true);

// Gradio makes much of the page anew with every word that streams. What keeps its own in order there looks once a frame.
// The page is watched, not the conversation, which Gradio may make anew as well.
const first = !window.osragLooks; // this script runs once for each panel of evidence
const looks = (window.osragLooks ??= []);
if (first) {
  let waits = false;
  new MutationObserver(() => {
    if (waits) return;
    waits = true;
    requestAnimationFrame(() => {
      waits = false;
      for (const look of looks) look();
    });
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
}

// Folded code of a reply: one link opens or closes all of it. Gradio makes a reply anew with every word that comes, so
// what was opened is opened again.
if (first) {
  window.osragFolds = new Set();
  const rows = () => [...document.querySelectorAll('#os-chat .bot-row')];
  const key = (fold) => `${rows().indexOf(fold.closest('.bot-row'))} ${fold.querySelector('summary').textContent}`;
  document.addEventListener('toggle', (event) => {
    if (!event.target.matches?.('#os-chat details.os-fold')) return;
    if (event.target.open) window.osragFolds.add(key(event.target));
    else window.osragFolds.delete(key(event.target));
  }, true);
  looks.push(() => {
    if (!rows().length) window.osragFolds.clear();
    if (!window.osragFolds.size) return;
    for (const fold of document.querySelectorAll('#os-chat details.os-fold:not([open])')) {
      if (window.osragFolds.has(key(fold))) fold.open = true;
    }
  });
  document.addEventListener('click', (event) => {
    const link = event.target.closest('a[href="#fold"]');
    if (!link) return;
    event.preventDefault();
    const folds = [...link.closest('.bot-row').querySelectorAll('details.os-fold')];
    const opening = folds.some((fold) => !fold.open);
    for (const fold of folds) fold.open = opening;
  }, true);
}

// The copy of a reply is what is read, its code unfolded: it takes the place of the Markdown that Gradio hands on.
if (!window.osragCopies) {
  window.osragCopies = true;
  document.addEventListener('click', (event) => {
    const row = event.target.closest('#os-chat .bot-row [data-label="copy"]:not(.copy_code_button)')?.closest('.bot-row');
    const board = navigator.clipboard;
    if (!row || !board) return;
    const folds = [...row.querySelectorAll('details.os-fold:not([open])')];
    const ways = [...row.querySelectorAll('a[href="#fold"], a[href^="#ask-"]')].map((link) => link.closest('p'));
    for (const fold of folds) fold.open = true;
    for (const way of ways) way.hidden = true;
    const text = [...row.querySelectorAll('.prose')].map((one) => one.innerText).join('\n\n');
    for (const fold of folds) fold.open = false;
    for (const way of ways) way.hidden = false;
    board.writeText = () => {
      delete board.writeText;
      return board.writeText(text.trim());
    };
    setTimeout(() => { delete board.writeText; }, 500); // where Gradio copied by other means
  }, true);
}

// A link to the lab opens in its tab, so that what the other tabs hold stays. The script of the tab is loaded with it.
document.addEventListener('click', (event) => {
  const link = event.target.closest('a[href*="?lab="]');
  const tab = document.querySelector('#os-lab-tab-button');
  if (!link || !tab || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  window.osragLab = link.href.slice(link.href.indexOf('?'));
  tab.click();
  document.dispatchEvent(new CustomEvent('osrag-lab', { detail: window.osragLab }));
}, true);

// A new question goes to the top of the conversation and stays there while its answer comes, so that a long answer is
// read from its beginning; whoever scrolls is left alone.
if (first) {
  let asked = 0;
  let following = false;
  for (const kind of ['wheel', 'touchmove', 'keydown']) {
    document.addEventListener(kind, (event) => { if (event.target.closest?.('#os-chat')) following = false; }, { passive: true });
  }
  looks.push(() => {
    const rows = document.querySelectorAll('#os-chat .user-row');
    if (rows.length > asked) following = true;
    asked = rows.length;
    const last = rows[rows.length - 1];
    const wrap = last?.closest('.panel-wrap');
    const off = wrap ? last.getBoundingClientRect().top - wrap.getBoundingClientRect().top - 8 : 0;
    if (following && off) wrap.scrollTop += off;
  });
}

// Gradio tells a waiting visitor "queue: 2/5" in English and small: said in the page's words instead.
const tellPlace = () => {
  const words = document.querySelector('.os-brand')?.dataset.place || '';
  for (const line of document.querySelectorAll('.meta-text, .meta-text-center')) {
    const found = /queue:\s*(\d+)\s*\/\s*(\d+)/.exec(line.textContent);
    const said = found && words ? words.replace('{place}', found[1]).replace('{of}', found[2]) : '';
    if ((line.dataset.place || '') === said) continue;
    if (said) line.dataset.place = said;
    else delete line.dataset.place;
  }
};
if (first) looks.push(tellPlace);

// So are the titles of its messages, and what it says of an upload that is refused.
const tellMessages = () => {
  const words = document.querySelector('.os-brand')?.dataset || {};
  const retell = (selector, told) => {
    for (const line of document.querySelectorAll(selector)) {
      const said = told(line.textContent.trim());
      if (said && said !== line.textContent.trim()) line.textContent = said;
    }
  };
  retell('.toast-title', (text) => words[text.toLowerCase()]);
  retell('[data-testid=toast-text]', (text) => {
    const large = /^File\(s\) exceed the maximum allowed size of ([\d.]+) Mb/.exec(text);
    return large ? words.large?.replace('{limit}', `${Number(large[1])} MB`) : text.replace(/^HTTP \d+: /, '');
  });
};
if (first) looks.push(tellMessages);

// So are the names of its small buttons, which a pointer and a screen reader tell.
const LABELS = { 'Copy message': 'copy', copy: 'copy', Feedback: 'flag', 'Reset to default value': 'reset', Close: 'close', 'chatbot conversation': 'talk' };
const tellLabels = () => {
  const words = document.querySelector('.os-brand')?.dataset || {};
  const all = '#os-chat :is([title], [aria-label]), .copy_code_button, .reset-button, .toast-close';
  for (const one of document.querySelectorAll(all)) {
    for (const name of ['title', 'aria-label']) {
      const word = LABELS[one.getAttribute(name)];
      if (word) one.dataset.label = word;
      const said = one.hasAttribute(name) && words[one.dataset.label];
      if (said && said !== one.getAttribute(name)) one.setAttribute(name, said);
    }
  }
};
if (first) looks.push(tellLabels);

// The quiz by keyboard: 1-9 choose, Enter grades, H asks for a hint; not while a text is being typed.
if (!document.body.dataset.quizKeys) {
  document.body.dataset.quizKeys = '1';
  document.addEventListener('keydown', (event) => {
    const quiz = document.querySelector('#qz-question');
    const at = event.target;
    const choice = at.matches('input[type=radio], input[type=checkbox]');
    if (!quiz?.offsetParent || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (!choice && at.matches('input, textarea, select, [contenteditable]')) return;
    const options = document.querySelectorAll('#qz-radio input, #qz-boxes input');
    if (/^[1-9]$/.test(event.key)) options[Number(event.key) - 1]?.click();
    else if (event.key === 'Enter' && !at.matches('button, a, summary')) document.querySelector('#qz-grade')?.click();
    else if (event.key.toLowerCase() === 'h') document.querySelector('#qz-hint')?.click();
    else return;
    event.preventDefault();
  });
}
