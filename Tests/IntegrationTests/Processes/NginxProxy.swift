import Foundation
import TestSupport
import Testing

/// nginx in front of copies of the daemon, configured as docs/scaling.md has it, on a Unix socket.
enum NginxProxy {
    /// nil where it is not installed.
    static let program = ["/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/sbin/nginx"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// The configuration of nginx that docs/scaling.md shows, for other copies and another listener.
    private static func configuration(_ stages: [DaemonStage], in folder: URL) throws -> String {
        let document = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../docs/scaling.md")
        let text = try String(contentsOf: document, encoding: .utf8)
        let block = try #require(text.firstMatch(of: /```nginx\n((?s:.*?))```/)).1
        let server = try #require(block.firstMatch(of: /server 127\.0\.0\.1:18081(.*)\n/))
        let servers = stages.map { "server 127.0.0.1:\($0.apiPort)\(server.1)" }.joined(separator: "\n    ")
        let http =
            block
            .replacing(/\ *server 127\.0\.0\.1:1808[0-9].*\n/, with: "")
            .replacing("upstream purser {\n", with: "upstream purser {\n    \(servers)\n")
            .replacing("listen 127.0.0.1:8080;", with: "listen unix:\(folder.path)/proxy.sock;")
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(folder.path)/\($0);"
        }
        return """
            daemon off;
            master_process off;
            pid \(folder.path)/nginx.pid;
            error_log \(folder.path)/nginx.log info;
            events { worker_connections 1024; }
            http {
            access_log off;
            \(temporary.joined(separator: "\n"))
            \(http)
            }
            """
    }

    /// What nginx could not do, for people.
    static func errors(_ stages: [DaemonStage]) -> String {
        let log = try? String(contentsOf: stages[0].folder.appending(path: "nginx/nginx.log"), encoding: .utf8)
        return (log ?? "").split(separator: "\n").filter { $0.contains("[error]") }.joined(separator: "\n")
    }

    /// Runs nginx for the length of a closure.
    static func with(
        _ stages: [DaemonStage], _ body: (LocalClient) async throws -> Void
    ) async throws {
        let folder = stages[0].folder.appending(path: "nginx")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: "nginx.conf")
        try configuration(stages, in: folder).write(to: file, atomically: true, encoding: .utf8)
        let process = try ChildProcess([try #require(program), "-c", file.path, "-e", "\(folder.path)/nginx.log"])
        defer { process.kill() }
        let client = LocalClient(
            socket: "\(folder.path)/proxy.sock",
            headers: ["Authorization": "Bearer \(DaemonStage.callers["billing"] ?? "")"])
        try await Wait.until("nginx to serve") {
            try #require(process.status == nil, "nginx has ended")
            return await client.send("GET", "/v1/apps/coins/users/nobody/links")?.status == 200
        }
        try await body(client)
    }
}

extension Trait where Self == ConditionTrait {
    /// Shows a skip where nginx is not installed.
    static var needsNginx: Self {
        .enabled(if: NginxProxy.program != nil, "nginx is missing: install the package nginx")
    }
}
