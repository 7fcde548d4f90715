//! The engine's side of the Web Worker.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use js_sys::{Promise, global};
use wasm_bindgen::{JsCast as _, JsValue, closure::Closure};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{DedicatedWorkerGlobalScope, MessageChannel, MessageEvent};

use super::{
    pacing::Host,
    protocol::{Event, PROTOCOL, Reply, Request, decode, encode},
};
use crate::experiments::{run::run, spec::Spec};

/// Listens for requests until the page ends the worker.
pub fn start() {
    std::panic::set_hook(Box::new(|info| {
        console_error_panic_hook::hook(info);
        post(&Reply::Crashed { message: info.to_string() });
    }));
    let jobs = Jobs::default();
    let listen = Closure::<dyn Fn(MessageEvent)>::new(move |message: MessageEvent| {
        if let Some(request) = message.data().as_string().and_then(|text| decode(&text).ok()) {
            jobs.answer(request);
        }
    });
    scope().set_onmessage(Some(listen.as_ref().unchecked_ref()));
    listen.forget();
    post(&Reply::Ready { protocol: PROTOCOL, gpu: cfg!(feature = "gpu") });
}

/// The job that runs, if any: a worker does one thing at a time.
#[derive(Clone, Default)]
struct Jobs(Rc<RefCell<Option<(u32, Rc<Cell<bool>>)>>>);

impl Jobs {
    fn answer(&self, request: Request) {
        match request {
            Request::Hello { .. } => {}
            Request::Start { job, spec } => self.start(job, spec),
            Request::Cancel { job } => self.cancel(Some(job)),
        }
    }

    fn start(&self, job: u32, spec: Spec) {
        self.cancel(None);
        let cancel = Rc::new(Cell::new(false));
        *self.0.borrow_mut() = Some((job, cancel.clone()));
        spawn_local(async move { run(&spec, &WorkerHost { job, cancel }).await });
    }

    fn cancel(&self, job: Option<u32>) {
        if let Some((running, cancel)) = &*self.0.borrow()
            && job.is_none_or(|job| job == *running)
        {
            cancel.set(true);
        }
    }
}

/// A job's link to the page.
pub struct WorkerHost {
    /// Number of the job.
    pub job: u32,
    /// Set when the page asks to stop.
    pub cancel: Rc<Cell<bool>>,
}

impl Host for WorkerHost {
    fn emit(&self, event: Event) {
        post(&Reply::Event { job: self.job, event });
    }

    fn cancelled(&self) -> bool {
        self.cancel.get()
    }

    async fn breathe(&self) {
        next_task().await;
    }
}

/// Waits for one turn of the event loop. A message channel, unlike a timer, is not held back.
pub async fn next_task() {
    let promise = Promise::new(&mut |resolve, _| {
        let Ok(channel) = MessageChannel::new() else { return };
        let port = channel.port1();
        let wake = Closure::once_into_js(move || {
            port.close();
            // Resolving a promise cannot fail.
            let _ = resolve.call0(&JsValue::NULL);
        });
        channel.port1().set_onmessage(Some(wake.unchecked_ref()));
        // A message to our own open port cannot fail.
        let _ = channel.port2().post_message(&JsValue::NULL);
    });
    let _ = JsFuture::from(promise).await;
}

fn scope() -> DedicatedWorkerGlobalScope {
    global().unchecked_into()
}

fn post(reply: &Reply) {
    if let Ok(text) = encode(reply) {
        // The page is gone if this fails.
        let _ = scope().post_message(&text.into());
    }
}
