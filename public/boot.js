// Starts the page's own WebAssembly, or says in the page why it cannot; then keeps the site for
// visits without a network.
const mark = `?build=${document.querySelector("meta[name=build]")?.content ?? ""}`;
const simd = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11]);
// Says something where the page begins, or over the page once it is there.
const say = (text) => {
  let place = document.getElementById("boot");
  if (!place) {
    place = document.createElement("p");
    place.id = "boot";
    place.className = "notice--over";
    document.body.append(place);
  }
  place.setAttribute("role", "alert");
  place.classList.add("notice", "notice--error");
  place.textContent = text;
};

// A program that has failed does not go on.
const checkStopped = (error) => {
  if (error instanceof WebAssembly.RuntimeError) say("This page has stopped because of an error of ours. Reload it; your last results are kept.");
};

// Registers the service worker. The page hears "update-available" when a newer build waits, and says
// "update-accepted" when the visitor wants it.
const keep = async () => {
  const workers = navigator.serviceWorker;
  const registration = await workers.register("sw.js", { updateViaCache: "none" });
  const tell = () => registration.waiting && workers.controller && dispatchEvent(new Event("update-available"));
  // The browser may have found a newer build before this runs.
  const watch = () => registration.installing?.addEventListener("statechange", tell);
  tell();
  watch();
  registration.addEventListener("updatefound", watch);
  addEventListener("update-accepted", () => {
    workers.addEventListener("controllerchange", () => location.reload());
    registration.waiting?.postMessage("take-over");
  });
};

// A browser remembers under which address a script has failed to load: `again` makes another one.
const run = async (name, again = "") => {
  const { default: start } = await import(`./${name}.js${mark}${again}`);
  await start({ module_or_path: new URL(`./${name}_bg.wasm${mark}`, import.meta.url) });
};

// The pages that are a program of their own: see src/ui/more.rs.
let more;
let tries = 0;
addEventListener("more-wanted", () => {
  more ??= run("more", tries ? `&try=${tries}` : "").then(
    () => dispatchEvent(new Event("more-ready")),
    (error) => {
      more = undefined;
      tries += 1;
      checkStopped(error);
      dispatchEvent(new Event("more-failed"));
    },
  );
});

if (typeof WebAssembly !== "object" || !WebAssembly.validate(simd)) {
  say("This browser cannot run WebAssembly with SIMD, which the simulations need. Chrome, Edge, Firefox and Safari of 2023 or later can.");
} else {
  addEventListener("error", (event) => checkStopped(event.error));
  addEventListener("unhandledrejection", (event) => checkStopped(event.reason));
  try {
    await run("app");
    performance.mark("interactive");
    // Without a secure connection there is no service worker, and the site works all the same.
    if ("serviceWorker" in navigator) keep().catch(() => {});
  } catch (error) {
    say(`The page could not be started: ${error.message ?? error}. Reload it, or check the network.`);
  }
}
