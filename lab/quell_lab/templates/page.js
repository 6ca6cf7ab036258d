// SPDX-License-Identifier: GPL-2.0
// The legend's boxes show and hide what belongs to an algorithm, in figures and tables.
for (const box of document.querySelectorAll(".legend input")) {
  const show = () => {
    for (const part of document.getElementsByClassName(box.value))
      part.style.display = box.checked ? "" : "none";
  };
  box.addEventListener("change", show);
  show();
}
