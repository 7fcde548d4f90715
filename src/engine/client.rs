//! The page's side of the Web Worker: starts it, listens, cancels, and replaces it when it dies.

use std::{cell::RefCell, rc::Rc};

use gloo::timers::callback::{Interval, Timeout};
use wasm_bindgen::{JsCast as _, JsValue, closure::Closure};
use wasm_bindgen_futures::spawn_local;
use web_sys::{Blob, ErrorEvent, MessageEvent, Worker, WorkerOptions, WorkerType};

use super::{
    placement::{Flavour, on_cpu, place},
    protocol::{Event, PROTOCOL, Reply, Request, Work, agree, decode, encode},
};
use crate::experiments::live::Command;

/// Time that a worker has to stop by itself before it is ended: a visitor who cancels waits no longer
/// than a tenth of a second.
const CANCEL_LIMIT_MS: u32 = 80;
/// Time between two looks at a running worker.
const WATCH_MS: u32 = 2_000;
/// Looks without a message after which a worker counts as dead: on the CPU, where one that has nothing
/// to tell says every second that it lives; and while it is loaded or runs on the GPU, since slow
/// lines and the compiling of shaders take long.
const SILENT_LOOKS: [u32; 2] = [15, 60];
/// The same for tables and benchmarks, whose single steps may take long on a slow machine.
const PATIENT_LOOKS: u32 = 300;

/// A handle on the engine. Clones share it.
#[derive(Clone, Default)]
pub struct Engine(Rc<RefCell<State>>);

#[derive(Default)]
struct State {
    worker: Option<Live>,
    /// Workers that were started so far.
    workers: u32,
    job: Option<Job>,
    last_job: u32,
    /// The visitor's file. A worker that takes another's place gets it too.
    file: Option<Blob>,
    watch: Option<Interval>,
}

struct Live {
    worker: Worker,
    flavour: Flavour,
    ready: bool,
    /// The job that was asked to stop, and when the worker is ended if that has not stopped by then.
    stopping: Option<(u32, Timeout)>,
    // Kept alive for as long as the worker may call them.
    _heard: Closure<dyn Fn(MessageEvent)>,
    _failed: Closure<dyn Fn(web_sys::Event)>,
}

impl Drop for Live {
    fn drop(&mut self) {
        self.worker.set_onmessage(None);
        self.worker.set_onerror(None);
        self.worker.terminate();
    }
}

struct Job {
    number: u32,
    work: Work,
    listener: Rc<dyn Fn(Event)>,
    silent: u32,
    /// Which of the workers it was given to; none while that is being chosen.
    given_to: Option<Flavour>,
}

impl Engine {
    /// Does some work; what runs is cancelled first.
    pub fn start(&self, work: Work, listener: impl Fn(Event) + 'static) {
        self.cancel();
        let replaced = self.0.borrow_mut().job.take();
        if let Some(job) = replaced {
            (job.listener)(Event::Cancelled);
        }
        let number = {
            let mut state = self.0.borrow_mut();
            state.last_job += 1;
            let number = state.last_job;
            let listener = Rc::new(listener);
            state.job = Some(Job {
                number,
                work: work.clone(),
                listener,
                silent: 0,
                given_to: None,
            });
            let engine = self.clone();
            state.watch = Some(Interval::new(WATCH_MS, move || engine.look()));
            number
        };
        let engine = self.clone();
        spawn_local(async move {
            let (work, flavour, note) = place(work, engine.flavour()).await;
            engine.launch(number, work, flavour, note);
        });
    }

    /// Stops the running experiment, if there is one.
    pub fn cancel(&self) {
        let job = self.0.borrow().job.as_ref().map(|j| (j.number, j.given_to));
        let Some((number, given_to)) = job else {
            return;
        };
        if given_to.is_none() {
            return self.emit(number, Event::Cancelled);
        }
        if !self.0.borrow().is_ready() {
            return self.give_up(number);
        }
        let mut state = self.0.borrow_mut();
        state.send(&Request::Cancel { job: number });
        if let Some(worker) = &mut state.worker
            && !worker.is_stopping(number)
        {
            let engine = self.clone();
            let end = Timeout::new(CANCEL_LIMIT_MS, move || engine.give_up(number));
            worker.stopping = Some((number, end));
        }
    }

    /// Gives the engine a file to read. It is not copied: the worker reads it by itself.
    pub fn offer(&self, file: Blob) {
        let mut state = self.0.borrow_mut();
        state.file = Some(file);
        if state.is_ready() {
            state.send_file();
        }
    }

    /// Ends the worker and forgets what ran. Jobs are numbered on: one that was still being placed must not
    /// be taken for the next.
    pub fn close(&self) {
        let mut state = self.0.borrow_mut();
        *state = State {
            workers: state.workers,
            last_job: state.last_job,
            ..State::default()
        };
    }

    /// Does something to the running demonstration.
    pub fn command(&self, command: Command) {
        let state = self.0.borrow();
        if let Some(job) = &state.job {
            state.send(&Request::Command {
                job: job.number,
                command,
            });
        }
    }

    /// Number of the worker that lives. Another one remembers nothing of what this one was given.
    pub fn worker(&self) -> Option<u32> {
        let state = self.0.borrow();
        state.worker.as_ref().map(|_| state.workers)
    }

    /// Whether an experiment runs.
    pub fn is_busy(&self) -> bool {
        self.0.borrow().job.is_some()
    }

    fn flavour(&self) -> Flavour {
        let state = self.0.borrow();
        state.worker.as_ref().map_or(Flavour::Cpu, |w| w.flavour)
    }

    fn launch(&self, number: u32, work: Work, flavour: Flavour, note: Option<String>) {
        if !self.is_current(number) {
            return;
        }
        if let Some(note) = note {
            self.emit(number, Event::Note(note));
        }
        let reusable = self
            .0
            .borrow()
            .worker
            .as_ref()
            .is_some_and(|w| w.flavour == flavour);
        if let Some(job) = &mut self.0.borrow_mut().job {
            job.work = work;
            job.given_to = Some(flavour);
            // A worker that takes another's place has not been silent yet.
            job.silent = 0;
        }
        if !reusable {
            match self.open(flavour) {
                Ok(live) => {
                    let mut state = self.0.borrow_mut();
                    state.worker = Some(live);
                    state.workers += 1;
                }
                Err(error) => {
                    let message = format!("the browser did not start the engine: {error:?}");
                    return self.emit(number, Event::Failed(message));
                }
            }
        }
        self.send_start();
    }

    /// Sends the job to a worker that is ready; one that is not gets it when it says so.
    fn send_start(&self) {
        let state = self.0.borrow();
        if let (Some(job), Some(Live { ready: true, .. })) = (&state.job, &state.worker) {
            state.send(&Request::Start {
                job: job.number,
                work: Box::new(job.work.clone()),
            });
        }
    }

    fn open(&self, flavour: Flavour) -> Result<Live, JsValue> {
        let options = WorkerOptions::new();
        options.set_type(WorkerType::Module);
        let worker = Worker::new_with_options(&address(flavour), &options)?;
        let engine = self.clone();
        let heard = Closure::<dyn Fn(MessageEvent)>::new(move |message: MessageEvent| {
            let text = message.data().as_string();
            match text.and_then(|text| decode(&text).ok()) {
                Some(reply) => engine.hear(reply),
                None => engine.mourn("its answer could not be read"),
            }
        });
        let engine = self.clone();
        let failed = Closure::<dyn Fn(web_sys::Event)>::new(move |event: web_sys::Event| {
            event.prevent_default();
            // One whose file could not be loaded says nothing.
            let error = event.dyn_ref::<ErrorEvent>().map(ErrorEvent::message);
            let error = error.filter(|text| !text.is_empty());
            engine.mourn(error.as_deref().unwrap_or("its file could not be loaded"));
        });
        worker.set_onmessage(Some(heard.as_ref().unchecked_ref()));
        worker.set_onerror(Some(failed.as_ref().unchecked_ref()));
        Ok(Live {
            worker,
            flavour,
            ready: false,
            stopping: None,
            _heard: heard,
            _failed: failed,
        })
    }

    fn hear(&self, reply: Reply) {
        if let Some(job) = &mut self.0.borrow_mut().job {
            job.silent = 0;
        }
        match reply {
            Reply::Ready { protocol, .. } => {
                if let Err(why) = agree(protocol) {
                    self.0.borrow_mut().worker = None;
                    return self.fail(why);
                }
                if let Some(worker) = &mut self.0.borrow_mut().worker {
                    worker.ready = true;
                }
                self.0.borrow().send(&Request::Hello { protocol: PROTOCOL });
                self.0.borrow().send_file();
                self.send_start();
            }
            Reply::Event { job, event } => {
                if event.is_last() {
                    self.0.borrow_mut().note_end(job);
                }
                match event {
                    Event::TryWebgpu(why) => self.move_to_webgpu(job, why),
                    event => self.emit(job, event),
                }
            }
            Reply::Crashed { message } => self.mourn(&message),
        }
    }

    /// Starts a job again in the engine that has WebGPU.
    fn move_to_webgpu(&self, number: u32, why: String) {
        if !self.is_current(number) {
            return;
        }
        // Ended last: it owns the very closure that calls this.
        let _left = self.0.borrow_mut().worker.take();
        let work = self.0.borrow().job.as_ref().map(|job| job.work.clone());
        if let Some(work) = work {
            self.launch(number, work, Flavour::Gpu, Some(why));
        }
    }

    /// Replaces a worker that died. What ran on the GPU starts again on the CPU.
    fn mourn(&self, why: &str) {
        // Ended last: it owns the very closure that may have called this.
        let dead = self.0.borrow_mut().worker.take();
        let first_line = why.lines().next().unwrap_or(why).to_owned();
        let Some((number, work)) = self
            .0
            .borrow()
            .job
            .as_ref()
            .map(|j| (j.number, j.work.clone()))
        else {
            return;
        };
        if dead
            .as_ref()
            .is_some_and(|dead| dead.flavour == Flavour::Gpu)
        {
            let note =
                format!("WebGPU stopped working ({first_line}); the run starts again on the CPU");
            return self.launch(number, on_cpu(work), Flavour::Cpu, Some(note));
        }
        self.fail(format!(
            "the engine stopped unexpectedly ({first_line}); a fresh one takes its place, so you can run again"
        ));
    }

    fn look(&self) {
        let silent_too_long = {
            let mut state = self.0.borrow_mut();
            let slow = state
                .worker
                .as_ref()
                .is_none_or(|worker| worker.flavour == Flavour::Gpu || !worker.ready);
            let limit = SILENT_LOOKS[usize::from(slow)];
            state.job.as_mut().is_some_and(|job| {
                job.silent += 1;
                let patient = matches!(job.work, Work::Rerun(_) | Work::Bench(_));
                job.silent > if patient { PATIENT_LOOKS } else { limit }
            })
        };
        if silent_too_long {
            self.mourn("it did not answer");
        }
    }

    /// Ends a worker that has not stopped a job. Another job that waits for it gets a fresh worker.
    fn give_up(&self, number: u32) {
        self.0.borrow_mut().worker = None;
        if self.is_current(number) {
            return self.emit(number, Event::Cancelled);
        }
        let waiting = self.0.borrow().job.as_ref().and_then(|job| {
            let flavour = job.given_to?;
            Some((job.number, job.work.clone(), flavour))
        });
        if let Some((number, work, flavour)) = waiting {
            self.launch(number, work, flavour, None);
        }
    }

    fn fail(&self, message: String) {
        let number = self.0.borrow().job.as_ref().map(|job| job.number);
        if let Some(number) = number {
            self.emit(number, Event::Failed(message));
        }
    }

    fn is_current(&self, number: u32) -> bool {
        self.0
            .borrow()
            .job
            .as_ref()
            .is_some_and(|job| job.number == number)
    }

    fn emit(&self, number: u32, event: Event) {
        if !self.is_current(number) {
            return;
        }
        let listener = self.0.borrow().job.as_ref().map(|job| job.listener.clone());
        if event.is_last() {
            let mut state = self.0.borrow_mut();
            state.job = None;
            state.watch = None;
        }
        if let Some(listener) = listener {
            listener(event);
        }
    }
}

impl Live {
    fn is_stopping(&self, number: u32) -> bool {
        self.stopping
            .as_ref()
            .is_some_and(|(job, _)| *job == number)
    }
}

impl State {
    fn is_ready(&self) -> bool {
        self.worker.as_ref().is_some_and(|worker| worker.ready)
    }

    /// A worker that has stopped a job in time may stay, and so may one that has ended a later job: the first
    /// only waits for a file, and the worker may have been given a model since.
    fn note_end(&mut self, number: u32) {
        if let Some(worker) = &mut self.worker {
            worker.stopping.take_if(|(job, _)| *job <= number);
        }
    }

    fn send_file(&self) {
        if let (Some(live), Some(file)) = (&self.worker, &self.file) {
            // Posting a file to a worker cannot fail.
            let _ = live.worker.post_message(file);
        }
    }

    fn send(&self, request: &Request) {
        if let (Some(live), Ok(text)) = (&self.worker, encode(request)) {
            // Posting text to a worker cannot fail.
            let _ = live.worker.post_message(&text.into());
        }
    }
}

/// Address of the loader, with the build's mark so that no cache mixes two builds.
fn address(flavour: Flavour) -> String {
    let name = match flavour {
        Flavour::Cpu => "worker",
        Flavour::Gpu => "worker-gpu",
    };
    format!("engine.js?bin={name}&build={}", build_mark())
}

fn build_mark() -> String {
    let marked = || {
        let meta = web_sys::window()?
            .document()?
            .query_selector("meta[name=build]")
            .ok()??;
        meta.get_attribute("content")
    };
    marked().unwrap_or_default()
}
