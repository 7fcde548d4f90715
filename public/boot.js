// Starts the page's own WebAssembly, or says in the page why it cannot.
const mark = `?build=${document.querySelector("meta[name=build]")?.content ?? ""}`;
const simd = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11]);
const say = (text) => {
  const place = document.getElementById("boot");
  place.textContent = text;
  place.className = "notice notice-error";
};
if (typeof WebAssembly !== "object" || !WebAssembly.validate(simd)) {
  say("This browser cannot run WebAssembly with SIMD, which the simulations need. Chrome, Edge, Firefox and Safari of 2023 or later can.");
} else {
  try {
    const { default: start } = await import(`./app.js${mark}`);
    await start({ module_or_path: new URL(`./app_bg.wasm${mark}`, import.meta.url) });
  } catch (error) {
    say(`The page could not be started: ${error.message ?? error}. Reload it, or check the network.`);
  }
}
