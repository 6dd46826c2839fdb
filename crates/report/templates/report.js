"use strict";
(function () {
  const readout = document.getElementById("readout");
  const show = function (text, x, y) {
    readout.textContent = text;
    readout.style.visibility = text ? "visible" : "hidden";
    const width = readout.offsetWidth + 12;
    readout.style.left = Math.max(4, Math.min(x + 14, innerWidth - width)) + "px";
    readout.style.top = Math.max(4, y - 34) + "px";
  };
  const hide = function () { show("", 0, 0); };

  // Native tool tips come late: theirs are shown at once.
  document.querySelectorAll(".chart .tip").forEach(function (place) {
    const title = place.querySelector("title");
    if (!title) { return; }
    const text = title.textContent;
    title.remove();
    place.setAttribute("aria-label", text);
    place.addEventListener("mousemove", function (event) { show(text, event.clientX, event.clientY); });
    place.addEventListener("mouseleave", hide);
  });

  // A map's image has a pixel for each CPU and slice, whose colour is one of the palette's: values are read from there.
  document.querySelectorAll("image.heat").forEach(function (map) {
    const cpus = map.dataset.cpus.split(" ");
    const slices = Number(map.dataset.slices);
    const slice = Number(map.dataset.sliceUs);
    const ends = map.dataset.ends.split(" ").map(Number);
    const palette = map.dataset.palette.split(" ");
    const source = new Image();
    let pixels = null;
    source.addEventListener("load", function () {
      const sheet = document.createElement("canvas");
      sheet.width = slices;
      sheet.height = cpus.length;
      const context = sheet.getContext("2d", { willReadFrequently: true });
      context.drawImage(source, 0, 0);
      pixels = context.getImageData(0, 0, slices, cpus.length).data;
    });
    source.src = map.getAttribute("href");
    let row = 0, column = 0;
    // The place on the scale, or -1 where there is no value.
    const level = function () {
      const pixel = pixels.subarray(4 * (row * slices + column));
      const hex = Array.from(pixel.subarray(0, 3), function (c) { return c.toString(16).padStart(2, "0"); });
      return pixel[3] === 0 ? -1 : palette.indexOf("#" + hex.join("").toUpperCase());
    };
    const read = function (x, y) {
      if (pixels === null) { return; }
      const at = level();
      const from = (column * slice / 1000).toPrecision(4), to = ((column + 1) * slice / 1000).toPrecision(4);
      const value = (ends[0] + at / (palette.length - 1) * (ends[1] - ends[0])).toFixed(Number(map.dataset.digits));
      const figure = at === -1 ? map.dataset.blank : value + " " + map.dataset.unit;
      show("CPU " + cpus[row] + ", " + from + " to " + to + " ms: " + figure, x, y);
    };
    const clamp = function (value, most) { return Math.max(0, Math.min(most - 1, value)); };
    const point = function (event) {
      const box = map.getBoundingClientRect();
      column = clamp(Math.floor((event.clientX - box.left) / box.width * slices), slices);
      row = clamp(Math.floor((event.clientY - box.top) / box.height * cpus.length), cpus.length);
      read(event.clientX, event.clientY);
    };
    map.addEventListener("mousemove", point);
    // A click takes the focus from another map, which hides what that one said.
    map.addEventListener("click", point);
    map.addEventListener("mouseleave", hide);
    map.setAttribute("tabindex", "0");
    map.addEventListener("blur", hide);
    map.addEventListener("keydown", function (event) {
      const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
      if (!step) { return; }
      event.preventDefault();
      row = clamp(row + step[0], cpus.length);
      column = clamp(column + step[1], slices);
      const box = map.getBoundingClientRect();
      read(box.left + (column + 0.5) / slices * box.width, box.top + (row + 0.5) / cpus.length * box.height);
    });
  });

  document.querySelectorAll(".chart").forEach(function (chart) {
    const svg = chart.querySelector("svg"), frame = chart.querySelector(".frame");
    const width = Number(svg.getAttribute("width"));
    let zoom = 1;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "zoom";
    button.textContent = "zoom ×2";
    button.addEventListener("click", function () {
      zoom = zoom === 4 ? 1 : zoom * 2;
      frame.classList.toggle("zoomed", zoom !== 1);
      svg.style.width = zoom === 1 ? "" : width * zoom + "px";
      frame.tabIndex = zoom === 1 ? -1 : 0;
      button.textContent = zoom === 4 ? "whole" : "zoom ×" + zoom * 2;
    });
    chart.querySelector("figcaption").append(button);
  });
})();
