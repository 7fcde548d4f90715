//! A static file server for one folder, on this machine only.

use std::{
    fs,
    io::{self, BufRead as _, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    path::{Component, Path, PathBuf},
    time::Duration,
};

/// Arguments of `camel serve`.
#[derive(clap::Args)]
pub struct Serve {
    /// Folder with the built site.
    folder: PathBuf,
    /// Port on 127.0.0.1; 0 takes a free one.
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// Serve under this path, as a static host with several sites does.
    #[arg(long, default_value = "/")]
    under: String,
}

impl Serve {
    /// Serves until it is stopped.
    pub fn run(self) -> Result<(), String> {
        if !self.folder.join("index.html").is_file() {
            return Err(format!(
                "{} has no index.html; build the site first",
                self.folder.display()
            ));
        }
        let listener = TcpListener::bind(("127.0.0.1", self.port)).map_err(|error| {
            format!(
                "cannot listen on 127.0.0.1:{}: {error}; choose another with --port",
                self.port
            )
        })?;
        let port = listener
            .local_addr()
            .map_err(|error| error.to_string())?
            .port();
        let under = format!("/{}/", self.under.trim_matches('/')).replace("//", "/");
        println!("http://127.0.0.1:{port}{under}");
        // Whoever started the server may wait for the address on a pipe.
        io::stdout().flush().map_err(|error| error.to_string())?;
        std::thread::scope(|threads| {
            for stream in listener.incoming().flatten() {
                // A visitor who hangs up early is none of our business.
                threads.spawn(|| answer(stream, &self.folder, &under).ok());
            }
        });
        Ok(())
    }
}

fn answer(mut stream: TcpStream, folder: &Path, under: &str) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut line = String::new();
    while reader.read_line(&mut line)? > 2 {
        line.clear();
    }
    let path = first.split_whitespace().nth(1).unwrap_or("/");
    let path = path.split(['?', '#']).next().unwrap_or("/");
    let file = path
        .strip_prefix(under)
        .and_then(|rest| inside(folder, rest));
    let (status, kind, body) = match file.and_then(|file| Some((kind(&file), fs::read(file).ok()?)))
    {
        Some((kind, body)) => ("200 OK", kind, body),
        None => ("404 Not Found", "text/plain", b"not found".to_vec()),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nCache-Control: no-cache\r\nConnection: close\r\n\r\n",
        body.len()
    )?;
    stream.write_all(&body)
}

/// The file of a path, if it stays inside the folder.
fn inside(folder: &Path, path: &str) -> Option<PathBuf> {
    let plain = Path::new(path)
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    let file = folder.join(path);
    match (plain, path.is_empty() || path.ends_with('/')) {
        (true, true) => Some(file.join("index.html")),
        (true, false) => Some(file),
        _ => None,
    }
}

fn kind(file: &Path) -> &'static str {
    match file.extension().and_then(|end| end.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("svg") => "image/svg+xml",
        Some("json") => "application/json",
        Some("png") => "image/png",
        _ => "application/octet-stream",
    }
}
