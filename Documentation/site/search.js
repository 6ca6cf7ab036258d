// SPDX-License-Identifier: GPL-2.0
// Sections that have all words of the query, those with them in the heading first.
const root = document.documentElement.dataset.root;
const input = document.querySelector("nav input");
const list = document.getElementById("found");
const RESULTS_MAX = 30;
const AROUND = 80;	// characters of text beside a word

// The index is a script: a page opened from a file may not fetch one.
function load() {
  const script = document.createElement("script");
  script.src = root + "index.js";
  script.onload = show;
  document.head.append(script);
}

function rank(section, words) {
  const heading = `${section.title} ${section.heading}`.toLowerCase();
  const text = section.text.toLowerCase();
  if (!words.every((word) => heading.includes(word) || text.includes(word)))
    return 0;
  return 1 + words.filter((word) => heading.includes(word)).length;
}

function item(section, word) {
  const at = Math.max(section.text.toLowerCase().indexOf(word) - AROUND, 0);
  const link = document.createElement("a");
  link.href = root + section.url;
  link.textContent = [...new Set([section.title, section.heading])].join(": ");
  const text = document.createElement("p");
  text.textContent = section.text.slice(at, at + 2 * AROUND + word.length);
  const entry = document.createElement("li");
  entry.append(link, text);
  return entry;
}

function show() {
  if (!window.INDEX)
    return load();
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = words.length ? INDEX.map((section) => [rank(section, words), section])
    .filter(([value]) => value).sort((a, b) => b[0] - a[0]).slice(0, RESULTS_MAX) : [];
  list.replaceChildren(...found.map(([, section]) => item(section, words[0])));
  if (words.length && !found.length)
    list.replaceChildren("No section has these words.");
  list.hidden = !words.length;
}

input.addEventListener("input", show);
list.addEventListener("click", () => { list.hidden = true; });
// index.html?q=WORDS
input.value = new URLSearchParams(location.search).get("q") || "";
if (input.value)
  show();
