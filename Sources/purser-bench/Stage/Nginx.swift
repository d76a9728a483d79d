import Foundation

/// nginx, either in Apple's place or as the reverse proxy that Purser is compared with.
struct Nginx: Sendable {
    let port: Int
    let process: ChildProcess

    /// Stands for Apple: answers signed beforehand, over TLS and HTTP/2, on the core of the load.
    static func upstream(in bench: Bench) async throws -> Nginx {
        let fixtures = bench.fixtures
        return try await start(in: bench, core: bench.cores.load) { port in
            """
            server {
                listen 127.0.0.1:\(port) ssl http2 backlog=4096;
                http2_max_concurrent_streams 256;
                ssl_certificate "\(fixtures.path("tls.pem"))";
                ssl_certificate_key "\(fixtures.path("tls.key"))";
                ssl_protocols TLSv1.2 TLSv1.3;
                root "\(fixtures.path("upstream"))";
                # What the daemon asks of its own accord: anything but an answer as Apple's counts as an outage.
                location = /inApps/v1/transactions/0 {
                    return 404 '{"errorCode":4040010,"errorMessage":"Transaction id not found."}';
                }
                location = /inApps/v1/notifications/history {
                    return 200 '{"notificationHistory":[],"hasMore":false}';
                }
                location ~ "^/inApps/v1/transactions/([0-9]+)$" { try_files /transactions/$1.json =404; }
                location /inApps/v2/refund/lookup/ { try_files /refund.json =404; }
                location /inApps/v1/subscriptions/extend/mass/ { try_files /mass.json =404; }
                location /inApps/v2/transactions/consumption/ { return 202; }
            }
            """
        }
    }

    /// Passes every request on to the upstream over TLS with kept connections, checking its certificate, on the core of the
    /// service. (nginx speaks HTTP/1.1 to upstreams.)
    static func proxy(to upstream: Nginx, in bench: Bench) async throws -> Nginx {
        try await start(in: bench, core: bench.cores.service) { port in
            """
            upstream apple {
                server 127.0.0.1:\(upstream.port);
                keepalive 256;
                keepalive_requests 100000000;
            }
            server {
                listen 127.0.0.1:\(port) backlog=4096;
                location / {
                    proxy_pass https://apple;
                    proxy_http_version 1.1;
                    proxy_set_header Connection "";
                    proxy_set_header Host localhost;
                    proxy_ssl_name localhost;
                    proxy_ssl_server_name on;
                    proxy_ssl_verify on;
                    proxy_ssl_trusted_certificate "\(bench.fixtures.path("ca.pem"))";
                }
            }
            """
        }
    }

    private static func start(
        in bench: Bench, core: Int, server: (_ port: Int) -> String
    ) async throws -> Nginx {
        let port = try Loopback.freePort()
        let folder = bench.folder.appending(path: "nginx-\(port)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let file = folder.appending(path: "nginx.conf")
        try configuration(folder.path, server(port)).write(to: file, atomically: true, encoding: .utf8)
        let process = try await bench.start(
            try Tool.nginx.path(), ["-c", file.path, "-e", "\(folder.path)/error.log"], core: core)
        try await Loopback.awaitListener(at: port, of: process)
        return Nginx(port: port, process: process)
    }

    /// One process, which serves by itself, so that it is clear what to pin and to ask for its time.
    private static func configuration(_ folder: String, _ server: String) -> String {
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        return """
            daemon off;
            master_process off;
            pid "\(folder)/pid";
            error_log "\(folder)/error.log" warn;
            events { worker_connections 8192; }
            http {
                access_log off;
                default_type application/json;
                types { }
                sendfile on;
                tcp_nopush on;
                keepalive_requests 100000000;
                keepalive_timeout 300s;
                open_file_cache max=8192 inactive=600s;
            \(temporary.map { "    \($0)_temp_path \"\(folder)/\($0)\";" }.joined(separator: "\n"))
            \(server)
            }
            """
    }
}
