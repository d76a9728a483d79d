import Foundation
import JSON
import TestSupport
import Testing

/// Parts of the daemon, and what it talks to, that hang: the watchdog sees it, or it does no harm; and all goes on when it ends.
///
/// The table "What may hang" of docs/operations.md says which is which.
@Suite(.enabled(if: PreloadedLibrary.compiler != nil, "no C compiler here")) struct HangTests {
    /// Whether requests are answered that read the store.
    private func isServed(_ stage: DaemonStage) async -> Bool {
        await stage.api().send("GET", "/v1/apps/coins/deliveries")?.status == 200
    }

    @Test(arguments: [("-#1", "event loops"), ("curl", "curl thread")])
    func `a thread that hangs keeps the watchdog from being fed`(thread: String, part: String) async throws {
        try await DaemonStage.with { stage in
            let (shim, manager) = (try await FaultShim(in: stage.folder), try NotifySocket(in: stage.folder))
            let process = try await stage.start(environment: shim.environment.merging(manager.environment) { $1 })
            try await manager.hears("WATCHDOG=1", times: 1)
            #expect(try await shim.freeze(thread, of: process.processID) > 0)
            try await manager.hears(part, times: 1, alsoBefore: true)
            try await Wait.until("the log to name it") {
                process.log.text.contains("No heartbeat: the watchdog is not fed")
            }
            try shim.thaw()
            try await manager.hears("WATCHDOG=1", times: 2)
            try await Wait.until("the log to say that it is over") {
                process.log.text.contains("Every part answers the watchdog again")
            }
            #expect(await isServed(stage))
            #expect(try await process.terminate() == 0)
        }
    }

    @Test func `threads of Swift's pool that hang do no harm, as others take their place`() async throws {
        try await DaemonStage.with { stage in
            let (shim, manager) = (try await FaultShim(in: stage.folder), try NotifySocket(in: stage.folder))
            let process = try await stage.start(environment: shim.environment.merging(manager.environment) { $1 })
            #expect(await isServed(stage))
            #expect(try await shim.freeze("oot.default-qos", of: process.processID) > 0)
            // What just such a thread was doing may hang with it; everything else goes on, or the watchdog is not fed.
            for _ in 0..<3 { #expect(await stage.health.send("GET", "/livez")?.status == 200) }
            try shim.thaw()
            try await manager.hears("WATCHDOG=1", times: 2)
            #expect(await isServed(stage))
            #expect(try await process.terminate() == 0)
        }
    }

    @Test func `a disk that hangs is no reason for the watchdog, and all goes on when it works`() async throws {
        try await DaemonStage.with { stage in
            let (shim, manager) = (try await FaultShim(in: stage.folder), try NotifySocket(in: stage.folder))
            let process = try await stage.start(environment: shim.environment.merging(manager.environment) { $1 })
            try shim.disk(.hangs)
            try await Wait.until("the daemon not to be ready") {
                await stage.health.send("GET", "/readyz")?.status == 503
            }
            try await manager.hears("WATCHDOG=1", times: 2)
            #expect(await isServed(stage), "what is read needs no write")
            try shim.disk(.works)
            try await Wait.until("the daemon to be ready") { await stage.health.send("GET", "/readyz")?.status == 200 }
            try await Wait.until("the log to say that it is over") {
                process.log.text.contains("The store can be written again")
            }
            let lines = process.log.text.split(separator: "\n")
            let begins = lines.count { $0.contains("The store cannot be written") && $0.contains("takes longer") }
            #expect(begins > 0)
            #expect(try await process.terminate() == 0)
        }
    }

    @Test func `a standard error that nobody reads holds up nobody, and is complete when it is read`() async throws {
        try await DaemonStage.with { stage in
            let manager = try NotifySocket(in: stage.folder)
            let pipe = stage.folder.appending(path: "errors").path
            try #require(mkfifo(pipe, 0o600) == 0)
            let reader = open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            defer { close(reader) }
            // The least that a pipe can hold: a dozen lines.
            try #require(fcntl(reader, 1031, 4096) >= 0, "F_SETPIPE_SZ")
            let process = try stage.launch(
                after: ["bash", "-c", #"exec "$@" 2>"$0""#, pipe], environment: manager.environment)
            try await Wait.until("the daemon to be ready") { await stage.health.send("GET", "/readyz")?.status == 200 }
            for _ in 0..<60 { #expect(await isServed(stage)) }
            try await manager.hears("WATCHDOG=1", times: 2)
            let isComplete = await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    _ = fcntl(reader, F_SETFL, 0)
                    var (text, buffer) = ("", [UInt8](repeating: 0, count: 65_536))
                    func answers() -> Int { text.components(separatedBy: "/v1/apps/{app}/deliveries").count - 1 }
                    while answers() < 60 {
                        let count = read(reader, &buffer, buffer.count)
                        guard count > 0 else { break }
                        text += String(decoding: buffer[..<count], as: UTF8.self)
                    }
                    continuation.resume(returning: answers() == 60 && !text.contains("entries are missing"))
                }
            }
            #expect(isComplete)
            #expect(try await process.terminate() == 0)
        }
    }

    @Test func `a service manager that does not read holds up neither the start nor the end`() async throws {
        try await DaemonStage.with { stage in
            let manager = try NotifySocket(in: stage.folder)
            try manager.fill()
            let process = try await stage.start(environment: manager.environment)
            #expect(await isServed(stage))
            try await Wait.until("the daemon to tell of it") {
                process.log.text.contains("The service manager cannot be told")
            }
            try await Wait.until("the daemon to tell that it is over") {
                manager.forget()
                return process.log.text.contains("The service manager can be told again")
            }
            try manager.fill()
            #expect(try await process.terminate() == 0)
        }
    }
}
