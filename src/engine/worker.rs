//! The engine's side of the Web Worker.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    time::Duration,
};

use gloo::timers::future::TimeoutFuture;
use js_sys::{Promise, Uint8Array, global};
use wasm_bindgen::{JsCast as _, JsValue, closure::Closure};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Blob, DedicatedWorkerGlobalScope, MessageChannel, MessageEvent, Response};

use super::{
    jobs,
    pacing::Host,
    protocol::{Event, PROTOCOL, Reply, Request, Work, agree, decode, encode},
};
use crate::experiments::{dataset::table::MOST_BYTES, live::Command};

/// Listens for requests until the page ends the worker.
pub fn start() {
    std::panic::set_hook(Box::new(|info| {
        console_error_panic_hook::hook(info);
        post(&Reply::Crashed {
            message: info.to_string(),
        });
    }));
    let jobs = Jobs::default();
    let listen = Closure::<dyn Fn(MessageEvent)>::new(move |message: MessageEvent| {
        match message.data().as_string().map(|text| decode(&text)) {
            Some(Ok(request)) => jobs.answer(request),
            Some(Err(error)) => post(&Reply::Crashed {
                message: format!("a request could not be read: {error}"),
            }),
            None => {
                if let Ok(file) = message.data().dyn_into::<Blob>() {
                    jobs.file.replace(Some(file));
                }
            }
        }
    });
    scope().set_onmessage(Some(listen.as_ref().unchecked_ref()));
    listen.forget();
    post(&Reply::Ready {
        protocol: PROTOCOL,
        gpu: cfg!(feature = "gpu"),
    });
}

/// The job that runs, if any: a worker does one thing at a time.
#[derive(Clone)]
struct Jobs {
    running: Rc<RefCell<Option<WorkerHost>>>,
    /// Why this page gets no work done, if so.
    agreed: Rc<RefCell<Result<(), String>>>,
    /// The visitor's file.
    file: Rc<RefCell<Option<Blob>>>,
}

impl Default for Jobs {
    fn default() -> Self {
        let silent = "the page has not said which protocol it speaks".to_owned();
        Self {
            running: Rc::default(),
            agreed: Rc::new(RefCell::new(Err(silent))),
            file: Rc::default(),
        }
    }
}

impl Jobs {
    fn answer(&self, request: Request) {
        match request {
            Request::Hello { protocol } => {
                *self.agreed.borrow_mut() = agree(protocol);
            }
            Request::Start { job, work } => self.start(job, *work),
            Request::Command { job, command } => self.with(job, |host| {
                host.commands.borrow_mut().push(command);
            }),
            Request::Cancel { job } => self.with(job, |host| host.cancel.set(true)),
        }
    }

    fn start(&self, job: u32, work: Work) {
        if let Err(why) = self.agreed.borrow().clone() {
            let event = Event::Failed(why);
            return post(&Reply::Event { job, event });
        }
        if let Some(running) = &*self.running.borrow() {
            running.cancel.set(true);
        }
        let host = WorkerHost {
            job,
            cancel: Rc::default(),
            commands: Rc::default(),
            file: self.file.borrow().clone(),
        };
        *self.running.borrow_mut() = Some(host.clone());
        spawn_local(async move { jobs::run(&work, &host).await });
    }

    /// Does something to the running job, if it has that number.
    fn with(&self, job: u32, action: impl FnOnce(&WorkerHost)) {
        if let Some(host) = self
            .running
            .borrow()
            .as_ref()
            .filter(|host| host.job == job)
        {
            action(host);
        }
    }
}

/// A job's link to the page.
#[derive(Clone)]
struct WorkerHost {
    job: u32,
    /// Set when the page asks to stop.
    cancel: Rc<Cell<bool>>,
    /// What the visitor has done.
    commands: Rc<RefCell<Vec<Command>>>,
    /// The visitor's file.
    file: Option<Blob>,
}

impl Host for WorkerHost {
    fn emit(&self, event: Event) {
        post(&Reply::Event {
            job: self.job,
            event,
        });
    }

    fn cancelled(&self) -> bool {
        self.cancel.get()
    }

    async fn breathe(&self) {
        next_task().await;
    }

    async fn sleep(&self, time: Duration) {
        TimeoutFuture::new(time.as_millis() as u32).await;
    }

    async fn read(&self, file: &str) -> Result<Vec<u8>, String> {
        let failed = |_| format!("{file} could not be loaded");
        let response = JsFuture::from(scope().fetch_with_str(file)).await;
        let response: Response = response.map_err(failed)?.unchecked_into();
        if !response.ok() {
            return Err(format!("{file} could not be loaded: {}", response.status()));
        }
        let buffer = response.array_buffer().map_err(failed)?;
        let buffer = JsFuture::from(buffer).await.map_err(failed)?;
        Ok(Uint8Array::new(&buffer).to_vec())
    }

    fn commands(&self) -> Vec<Command> {
        self.commands.take()
    }

    async fn file(&self) -> Result<Vec<u8>, String> {
        let file = self.file.as_ref().ok_or("no file was given")?;
        if file.size() > MOST_BYTES as f64 {
            return Err(format!(
                "the file may have at most {} MB, but has {:.0} MB",
                MOST_BYTES / 1_000_000,
                file.size() / 1e6
            ));
        }
        let bytes = JsFuture::from(file.array_buffer()).await;
        let bytes = bytes.map_err(|_| "the browser could not read the file; choose it again")?;
        Ok(Uint8Array::new(&bytes).to_vec())
    }
}

/// Waits for one turn of the event loop. A message channel, unlike a timer, is not held back.
async fn next_task() {
    let promise = Promise::new(&mut |resolve, _| {
        let Ok(channel) = MessageChannel::new() else {
            return;
        };
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
