package import Foundation
import Logging
import NIOPosix
import NIOSSL
import Synchronization

/// The TLS of a listener as new connections get it, made of files that may be replaced while it serves.
///
/// Files of no use change nothing: what was there before them goes on being used.
package final class ListenerCertificates: Sendable {
    /// How they are, for health.
    package struct Status: Sendable, Equatable {
        /// Why the files as they are now cannot be used; nil when they are used.
        package let problem: String?
        /// The last moment of validity of the server's certificate in use.
        package let notAfter: Date
    }

    /// How long before its end a certificate is warned of.
    package static let warningDays = 14

    private enum Warning { case endsSoon, hasEnded }

    private struct State {
        var tls: ListenerTLS
        var loaded: ListenerTLS.Loaded?
        /// The files that were last looked into.
        var files: [FileState?] = []
        var problem: String?
        /// The last warning of the certificate's end.
        var warned: Warning?
    }

    private let logger: Logger
    private let state: Mutex<State>
    private let authoritiesChanged: @Sendable () -> Void

    /// `authoritiesChanged`: called when connections may be open that the authorities of now would not have let in.
    init(_ tls: ListenerTLS, logger: Logger, authoritiesChanged: @escaping @Sendable () -> Void) {
        state = Mutex(State(tls: tls))
        self.logger = logger
        self.authoritiesChanged = authoritiesChanged
    }

    /// How the files are; nil before they were first read.
    package var status: Status? {
        state.withLock { state in
            state.loaded.map { Status(problem: state.problem, notAfter: $0.notAfter) }
        }
    }

    /// What a new connection gets; nil before the files were first read.
    var context: NIOSSLContext? { state.withLock { $0.loaded?.context } }

    /// Whether clients are asked for certificates.
    var asksClients: Bool { state.withLock { $0.tls.clientCertificates != nil } }

    /// Warns once of a certificate that ends soon, and once when it has ended.
    ///
    /// It is shown to clients all the same, which refuse it. One that takes its place is told of when it is taken up.
    package func warnOfEnd(at now: Date) {
        let due = state.withLock { state -> (Warning, Date)? in
            guard let end = state.loaded?.notAfter else { return nil }
            let warning: Warning? =
                if end < now {
                    .hasEnded
                } else if end < now.addingTimeInterval(TimeInterval(Self.warningDays * 86_400)) {
                    .endsSoon
                } else { nil }
            guard let warning, warning != state.warned else { return nil }
            state.warned = warning
            return (warning, end)
        }
        guard let (warning, end) = due else { return }
        let metadata: Logger.Metadata = ["valid_until": "\(end.formatted(.iso8601))"]
        switch warning {
        case .endsSoon: logger.warning("The certificate ends soon", metadata: metadata)
        case .hasEnded: logger.error("The certificate has ended; clients refuse it", metadata: metadata)
        }
    }

    /// Reads the files for the first time.
    func load() async throws(ListenerError.Reason) {
        let tls = state.withLock(\.tls)
        let (files, result) = await Self.read(tls)
        let loaded = try result.get()
        state.withLock { $0 = State(tls: tls, loaded: loaded, files: files) }
    }

    /// Looks whether the files have changed since they were last read, and takes the new ones if they are of use; to be
    /// called one time after the other, and after ``Listener/bind()``.
    package func refresh() async {
        let before = state.withLock(\.self)
        guard before.loaded != nil, await Self.state(of: before.tls) != before.files else { return }
        let (files, result) = await Self.read(before.tls)
        switch result {
        case .success(let loaded):
            take(Prepared(tls: before.tls, loaded: loaded, files: files))
        case .failure(let reason):
            let problem = ListenerError.text(of: reason)
            state.withLock { state in
                // A reload has brought other files meanwhile.
                guard state.tls == before.tls else { return }
                state.files = files
                state.problem = problem
            }
            logger.warning(
                "TLS files have changed and cannot be used; the ones before go on being used",
                metadata: ["reason": "\(problem)"])
        }
    }

    /// TLS of other files, or of the same as they are now, read and ready to be shown.
    package struct Prepared: Sendable {
        fileprivate let tls: ListenerTLS
        fileprivate let loaded: ListenerTLS.Loaded
        fileprivate let files: [FileState?]
    }

    /// Reads the files of TLS that is to be taken later; nothing changes before ``take(_:)``.
    ///
    /// - Throws: `certificateUnusable`, `authoritiesUnusable`.
    package static func prepare(_ tls: ListenerTLS) async throws(ListenerError.Reason) -> Prepared {
        let (files, result) = await read(tls)
        return Prepared(tls: tls, loaded: try result.get(), files: files)
    }

    /// Shows prepared TLS to every connection from now on.
    ///
    /// - Returns: whether it is other than before.
    @discardableResult
    package func take(_ prepared: Prepared) -> Bool {
        let before = state.withLock { state in
            defer { state = State(tls: prepared.tls, loaded: prepared.loaded, files: prepared.files) }
            return state
        }
        guard prepared.tls != before.tls || prepared.files != before.files else { return false }
        logger.notice(
            "TLS files replaced", metadata: ["valid_until": "\(prepared.loaded.notAfter.formatted(.iso8601))"])
        if prepared.loaded.authorities != before.loaded?.authorities { authoritiesChanged() }
        return true
    }

    /// Looks at the files first: whoever writes while they are read is seen the next time.
    private static func read(
        _ tls: ListenerTLS
    ) async -> (files: [FileState?], Result<ListenerTLS.Loaded, ListenerError.Reason>) {
        do {
            return try await NIOThreadPool.singleton.runIfActive {
                let files = tls.state()
                do throws(ListenerError.Reason) {
                    return (files, .success(try tls.load()))
                } catch {
                    return (files, .failure(error))
                }
            }
        } catch {
            return ([], .failure(.other("\(error)")))
        }
    }

    private static func state(of tls: ListenerTLS) async -> [FileState?] {
        (try? await NIOThreadPool.singleton.runIfActive { tls.state() }) ?? []
    }
}
