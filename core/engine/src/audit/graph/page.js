'use strict';
(() => {
  const by = id => document.getElementById(id);
  const svg = document.querySelector('#picture svg'), field = by('search'), count = by('count');
  const nodes = [...svg.querySelectorAll('g.node')], ways = [...svg.querySelectorAll('[data-from]')];
  const items = [...document.querySelectorAll('aside li')], groups = [...document.querySelectorAll('aside details')];
  const { x, y, width, height } = svg.viewBox.baseVal, whole = { x, y, width, height };
  let view = { ...whole }, hits = [], shown = 0;
  document.body.classList.add('script');

  // Looking: the view box of the picture is what is seen of it.
  const look = next => {
    view = next;
    svg.setAttribute('viewBox', [view.x, view.y, view.width, view.height].map(n => Math.round(n * 100) / 100).join(' '));
  };
  const point = event => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    return [at.x, at.y];
  };
  const zoom = (factor, [x, y]) => {
    const width = Math.min(Math.max(view.width * factor, 120), whole.width * 4), by = width / view.width;
    look({ x: x - (x - view.x) * by, y: y - (y - view.y) * by, width, height: view.height * by });
  };
  const centre = () => [view.x + view.width / 2, view.y + view.height / 2];
  const bring = node => {
    // As large as it is drawn, so that it can be read.
    const box = node.querySelector('rect').getBBox(), width = svg.clientWidth || 900, height = svg.clientHeight || 600;
    look({ x: box.x + box.width / 2 - width / 2, y: box.y + box.height / 2 - height / 2, width, height });
  };
  by('nearer').onclick = () => zoom(1 / 1.4, centre());
  by('farther').onclick = () => zoom(1.4, centre());
  by('all').onclick = () => look({ ...whole });
  by('picture').addEventListener('wheel', event => {
    event.preventDefault();
    zoom(Math.exp(Math.sign(event.deltaY) * Math.min(Math.abs(event.deltaY), 200) / 500), point(event));
  }, { passive: false });
  let held = null, moved = false;
  svg.addEventListener('pointerdown', event => { held = point(event); moved = false; });
  window.addEventListener('pointermove', event => {
    if (!held) return;
    const [x, y] = point(event);
    if (Math.hypot(x - held[0], y - held[1]) > 3) moved = true;
    if (moved) look({ ...view, x: view.x + held[0] - x, y: view.y + held[1] - y });
  });
  window.addEventListener('pointerup', () => { held = null; });

  // Searching: what is found and its neighbours stay, everything else fades.
  const mark = found => {
    const near = new Set(found.map(node => node.id.slice(1))), only = new Set(near), any = near.size > 0;
    for (const way of ways) {
      const touches = only.has(way.dataset.from) || only.has(way.dataset.to);
      way.classList.toggle('faded', any && !touches);
      if (touches) { near.add(way.dataset.from); near.add(way.dataset.to); }
    }
    for (const node of nodes) {
      const number = node.id.slice(1);
      node.classList.toggle('found', only.has(number));
      node.classList.toggle('faded', any && !near.has(number));
    }
  };
  const search = (text, keep) => {
    const wanted = text.trim().toLowerCase();
    hits = wanted === '' ? [] : nodes.filter(node => node.dataset.name.toLowerCase().includes(wanted));
    shown = 0;
    mark(hits);
    for (const item of items) item.hidden = wanted !== '' && !item.textContent.toLowerCase().includes(wanted);
    for (const group of groups) {
      group.hidden = [...group.querySelectorAll('li')].every(item => item.hidden);
      group.open = wanted !== '';
    }
    count.textContent = wanted === '' ? '' : hits.length + ' found';
    if (hits.length > 0) bring(hits[0]); else look({ ...whole });
    if (!keep) history.replaceState(null, '', wanted === '' ? '#' : '#q=' + encodeURIComponent(text.trim()));
  };
  const read = () => {
    const text = location.hash.startsWith('#q=') ? decodeURIComponent(location.hash.slice(3)) : '';
    field.value = text;
    search(text, true);
  };
  field.addEventListener('input', () => search(field.value));
  field.addEventListener('keydown', event => {
    if (event.key === 'Enter' && hits.length > 0) {
      shown = (shown + (event.shiftKey ? hits.length - 1 : 1)) % hits.length;
      bring(hits[shown]);
      count.textContent = (shown + 1) + ' of ' + hits.length;
    }
    if (event.key === 'Escape') { field.value = ''; search(''); }
  });
  document.addEventListener('keydown', event => {
    if (event.key === '/' && document.activeElement !== field) { event.preventDefault(); field.focus(); }
  });
  for (const node of nodes) node.addEventListener('click', () => { if (!moved) mark(node.classList.contains('found') ? [] : [node]); });
  for (const item of items) item.addEventListener('click', () => {
    const node = item.dataset.node && by('n' + item.dataset.node);
    if (node) { mark([node]); bring(node); }
  });
  window.addEventListener('hashchange', read);
  read();
})();
