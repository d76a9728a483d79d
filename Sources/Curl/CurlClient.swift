import CCurl
import Foundation
import Synchronization

/// An HTTP client for servers that we call often: libcurl on a thread of its own, HTTP/2 requests sharing connections,
/// callers suspended.
///
/// Everything is asynchronous: a caller's thread only ever puts a command in a queue. The thread and its connections
/// live until ``shutdown()``, or until the client is released.
package final class CurlClient: Sendable {
    private let queue: CommandQueue
    private let nextNumber = Atomic<UInt64>(0)

    /// Starts the thread.
    ///
    /// - Parameter configuration: What all transfers have in common. A certificate file that cannot be read fails the
    ///   transfers, not this.
    /// - Throws: ``CurlError`` when libcurl is too old, lacks HTTP/2 or cannot be initialised.
    package init(configuration: CurlConfiguration = CurlConfiguration()) throws(CurlError) {
        try CurlLibrary.initialize()
        let signal = try WakeUpSignal()
        let queue = CommandQueue(waking: signal)
        self.queue = queue
        // Taken out by the thread, so that the loop alone holds it and closes all connections when it lets go.
        let handover = Mutex<MultiHandle?>(try MultiHandle(configuration, SocketWatch(signal)))
        let thread = Thread { MultiLoop(handover.withLock { $0.take() }, queue, configuration).run() }
        thread.start()
        // Before the start, and within the thread as long as `start()` has not returned, a name does not reach the kernel,
        // and so not `top -H`.
        thread.name = "curl"
    }

    deinit { _ = queue.submit(.stop(nil)) }

    /// Sends a request and waits for its response.
    ///
    /// Cancelling the task ends the transfer at once: on HTTP/2 its stream is reset, on HTTP/1.1 its connection closed.
    /// curl sends a request again by itself, content included, when a kept connection turns out to be dead before any
    /// byte of a response, or a server refuses its stream.
    ///
    /// - Parameter request: What to send, and the limits.
    /// - Returns: The response, whatever its status.
    /// - Throws: ``CurlError`` when there is none, saying whether the server may have got the request.
    package func perform(_ request: CurlRequest) async throws(CurlError) -> CurlResponse {
        guard !Task.isCancelled else { throw .cancelled(requestMayHaveBeenSent: false) }
        let id = TransferID(number: nextNumber.add(1, ordering: .relaxed).newValue)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { completion in
                let submission = Submission(id: id, request: request, submitted: .now, completion: completion)
                guard queue.submit(.start(submission)) else {
                    return completion.resume(returning: .failure(.shutDown(requestMayHaveBeenSent: false)))
                }
                // A cancellation that came before the line above found nothing to cancel.
                if Task.isCancelled { _ = queue.submit(.cancel(id)) }
            }
        } onCancel: {
            _ = queue.submit(.cancel(id))
        }
        return try result.get()
    }

    /// Waits until the thread has taken up a command, which shows that it turns; for a watchdog.
    ///
    /// It says nothing about the network, and takes as long as the thread takes: if that hangs, this does not return,
    /// cancelled or not.
    ///
    /// - Returns: False if the thread has ended.
    package func heartbeat() async -> Bool {
        await withCheckedContinuation { continuation in
            if !queue.submit(.beat(continuation)) { continuation.resume(returning: false) }
        }
    }

    /// Ends all transfers with ``CurlError/Kind/shutDown``, closes all connections, releases all handles and ends the
    /// thread.
    ///
    /// It returns when that is done. Calling it again does nothing; ``perform(_:)`` fails from here on.
    package func shutdown() async {
        await withCheckedContinuation { continuation in
            if !queue.submit(.stop(continuation)) { continuation.resume() }
        }
    }
}

/// The libcurl that this process runs with.
package enum CurlLibrary {
    /// The library's name and version, and those of what it is built on, as `libcurl/8.5.0 OpenSSL/3.0.13 …`.
    package static var version: String { String(cString: curl_version()) }

    /// The outcome of `curl_global_init`, which runs when this is first read, once per process.
    private static let initialization = curl_global_init(Int(CURL_GLOBAL_SSL))

    /// The oldest libcurl that behaves as this module expects: 7.88.0.
    private static let oldestVersion: UInt32 = 0x07_58_00

    /// Initialises the library, unless that has been done, and checks that it can do what this module promises.
    ///
    /// The header that we were compiled with says nothing of the shared library that is loaded, so version and HTTP/2
    /// support are looked at here.
    ///
    /// - Throws: ``CurlError`` of kind ``CurlError/Kind/other`` when the library cannot be used.
    static func initialize() throws(CurlError) {
        guard initialization == CURLE_OK else { throw CurlError(initialization, during: "curl_global_init") }
        guard let information = ccurl_version_info()?.pointee else {
            throw CurlError(CURLE_FAILED_INIT, during: "curl_version_info")
        }
        guard information.version_num >= oldestVersion, information.features & CURL_VERSION_HTTP2 != 0 else {
            throw CurlError(
                CURLE_FAILED_INIT, during: "curl_version_info",
                detail: "libcurl 7.88.0 or later with HTTP/2 is needed, found \(version)")
        }
    }
}
