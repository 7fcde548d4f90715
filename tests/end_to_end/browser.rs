//! A headless Chromium on the built site, driven through its WebDriver.

use std::{
    io::{BufRead as _, BufReader},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Mutex,
    time::Duration,
};

use fantoccini::{
    Client, ClientBuilder, Locator, elements::Element, wd::WebDriverCompatibleCommand,
};
use http::Method;
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use url::{ParseError, Url};

/// Longest wait for something to appear.
const PATIENCE: Duration = Duration::from_secs(60);

/// The site's server, the driver and one browser window. All end with it.
pub struct Site {
    /// The window.
    pub client: Client,
    /// Address of the front page.
    pub address: String,
    server: Mutex<Option<Process>>,
    _driver: Process,
}

struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // Already gone is as good as ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// How a window looks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub width: u32,
    pub height: u32,
    pub dark: bool,
    /// Whether the visitor prefers reduced motion.
    pub still: bool,
}

pub const DESKTOP: Window = Window {
    width: 1280,
    height: 800,
    dark: false,
    still: false,
};
pub const PHONE: Window = Window {
    width: 390,
    height: 844,
    dark: false,
    still: false,
};

impl Site {
    /// Serves a folder under a sub-path and opens an empty window.
    pub async fn open(folder: &Path, window: Window) -> Self {
        let (server, address) = serve(folder);
        let (driver, port) = drive();
        Self {
            client: connect(port, window).await,
            address,
            server: Mutex::new(Some(server)),
            _driver: driver,
        }
    }

    /// Ends the server, as if the network were gone.
    pub fn stop_server(&self) {
        self.server.lock().unwrap().take();
    }

    /// Goes to a link of the site, as a fresh load.
    pub async fn visit(&self, fragment: &str) {
        self.client.goto("about:blank").await.unwrap();
        self.client
            .goto(&format!("{}{fragment}", self.address))
            .await
            .unwrap();
        self.find("nav").await;
    }

    /// Waits for an element.
    pub async fn find(&self, css: &str) -> Element {
        self.client
            .wait()
            .at_most(PATIENCE)
            .for_element(Locator::Css(css))
            .await
            .unwrap_or_else(|error| panic!("no {css}: {error}"))
    }

    /// Waits until an element's text contains `part`, and gives the text.
    pub async fn wait_for_text(&self, css: &str, part: &str) -> String {
        self.wait_long_for_text(css, part, PATIENCE).await
    }

    /// The same for something that takes longer.
    pub async fn wait_long_for_text(&self, css: &str, part: &str, patience: Duration) -> String {
        let begun = Instant::now();
        let mut last = String::new();
        while begun.elapsed() < patience {
            if let Ok(element) = self.client.find(Locator::Css(css)).await
                && let Ok(text) = element.text().await
            {
                if text.contains(part) {
                    return text;
                }
                last = text;
            }
            sleep(Duration::from_millis(50)).await;
        }
        panic!("{css} never said '{part}'; last: '{last}'");
    }

    pub async fn click(&self, css: &str) {
        let element = self.find(css).await;
        let centre =
            format!("document.querySelector(\"{css}\").scrollIntoView({{ block: 'center' }})");
        self.script(&centre).await;
        element
            .click()
            .await
            .unwrap_or_else(|error| panic!("click {css}: {error}"));
    }

    /// Replaces what a field holds.
    pub async fn fill(&self, css: &str, text: &str) {
        let field = self.find(css).await;
        field.clear().await.unwrap();
        field.send_keys(text).await.unwrap();
    }

    pub async fn script(&self, code: &str) -> Value {
        self.client.execute(code, vec![]).await.unwrap()
    }

    /// A value that the page's own code computes, once it is true.
    pub async fn until(&self, code: &str) {
        let begun = Instant::now();
        while self.script(&format!("return !!({code})")).await != true {
            assert!(begun.elapsed() < PATIENCE, "never: {code}");
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// A command to Chromium's developer tools.
    pub async fn tools(&self, name: &str, parameters: Value) {
        let command = Tools(json!({ "cmd": name, "params": parameters }));
        self.client.issue_cmd(command).await.unwrap();
    }

    /// The part of the address after `#`.
    pub async fn fragment(&self) -> String {
        self.script("return location.hash")
            .await
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// Saves a picture if `CAMEL_LAB_PICTURES` names a folder.
    pub async fn picture(&self, name: &str) {
        if let Ok(folder) = std::env::var("CAMEL_LAB_PICTURES") {
            let bytes = self.client.screenshot().await.unwrap();
            std::fs::write(Path::new(&folder).join(format!("{name}.png")), bytes).unwrap();
        }
    }

    /// Errors that the page has logged since it was last asked.
    pub async fn errors(&self) -> Vec<String> {
        let entries = self.client.issue_cmd(LogEntries).await.unwrap();
        let severe = |entry: &&Value| entry["level"] == "SEVERE";
        let entries = entries.as_array().unwrap();
        entries
            .iter()
            .filter(severe)
            .map(|entry| entry["message"].to_string())
            .collect()
    }

    /// Forgets errors that a test has caused on purpose.
    pub async fn forgive_errors(&self) {
        self.errors().await;
    }

    pub async fn close(self) {
        self.client.clone().close().await.unwrap();
    }
}

/// Chromium's own command for the console.
#[derive(Debug)]
struct LogEntries;

impl WebDriverCompatibleCommand for LogEntries {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!("session/{}/se/log", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(json!({ "type": "browser" }).to_string()))
    }
}

/// Chromium's own command for its developer tools.
#[derive(Debug)]
struct Tools(Value);

impl WebDriverCompatibleCommand for Tools {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        let session = session.unwrap_or_default();
        base.join(&format!("session/{session}/goog/cdp/execute"))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(self.0.to_string()))
    }
}

/// Folder of the built site.
pub fn dist() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("dist")
}

fn serve(folder: &Path) -> (Process, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_camel"))
        .args(["serve", "--port", "0", "--under", "some/folder"])
        .arg(folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut address = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut address)
        .unwrap();
    assert!(
        address.starts_with("http"),
        "the server did not start; is dist/ built?"
    );
    (Process(child), address.trim().to_owned())
}

fn drive() -> (Process, u16) {
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let child = Command::new("chromedriver")
        .arg(format!("--port={port}"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("chromedriver is missing; ./lab setup installs it");
    (Process(child), port)
}

async fn connect(port: u16, window: Window) -> Client {
    let options: Value = serde_json::from_str(include_str!("../../webdriver.json")).unwrap();
    let mut args = options["goog:chromeOptions"]["args"]
        .as_array()
        .unwrap()
        .clone();
    args.push(json!(format!(
        "--window-size={},{}",
        window.width, window.height
    )));
    if window.dark {
        args.push(json!("--blink-settings=preferredColorScheme=0"));
    }
    if window.still {
        args.push(json!("--force-prefers-reduced-motion"));
    }
    let mut chrome = json!({ "args": args });
    if window.width < 500 {
        let metrics = json!({ "width": window.width, "height": window.height, "pixelRatio": 2.0 });
        chrome["mobileEmulation"] = json!({ "deviceMetrics": metrics });
    }
    let capabilities = json!({
        "goog:chromeOptions": chrome,
        "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
    });
    let capabilities = capabilities.as_object().unwrap().clone();
    let begun = Instant::now();
    loop {
        let attempt = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities.clone())
            .connect(&format!("http://127.0.0.1:{port}"))
            .await;
        match attempt {
            Ok(client) => return client,
            Err(error) if begun.elapsed() > PATIENCE => panic!("no browser: {error}"),
            Err(_) => sleep(Duration::from_millis(100)).await,
        }
    }
}
