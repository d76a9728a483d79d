import Foundation
import GRPCAPI
import JSON
import Listener
import Synchronization

/// `purser call`: calls a method of gRPC with JSON, and shows each answer as a line of JSON.
package struct CallCommand: Sendable {
    /// Whom to call, and as whom.
    package struct Options: Sendable {
        /// The listener `grpc`: an address with a port, or `unix:` and a path.
        package var address: String
        /// A file that holds the caller's token; nil for whoever the connection proves.
        package var tokenFile: String?
        /// A PEM file of authorities; nil for no TLS.
        package var authorities: String?
        /// PEM files of the client's certificate and its key.
        package var identity: (chain: String, key: String)?
        /// How long the call may take; nil for as long as it lasts.
        package var timeout: Duration?
        /// After how many answers it ends; nil for all.
        package var limit: Int?

        package init(address: String) { self.address = address }
    }

    /// Enough has been shown.
    private struct Enough: Error {}

    private let options: Options

    package init(_ options: Options) { self.options = options }

    /// Calls a method.
    ///
    /// - Parameters:
    ///   - method: its name, such as `ListCases`, or its path, such as `purser.v1.CasesService/ListCases`.
    ///   - json: the request, an object.
    ///   - show: gets each line, without its end.
    /// - Returns: `success`, or `failure` with the status and, on the standard error, the problem.
    package func run(
        _ method: String, json: String, show: @escaping @Sendable (String) -> Void
    ) async -> CommandOutcome {
        do {
            var metadata: [(name: String, value: String)] = []
            let address = try Self.target(options.address)
            if let file = options.tokenFile {
                guard options.authorities != nil || address.isOfThisMachine else {
                    return CommandOutcome(
                        .data,
                        errorOutput: "\(options.address): A token does not go over a network without TLS; give --ca.\n")
                }
                let token = try String(contentsOfFile: file, encoding: .utf8)
                metadata.append(("authorization", "Bearer \(token.filter { !$0.isWhitespace })"))
            }
            let target = CallClient.Target(
                address, authorities: options.authorities, identity: options.identity)
            let ending = try await CallClient.with(target) { client in
                try await call(client, method, json, metadata, show)
            }
            guard ending.code != "OK" else { return CommandOutcome(.success) }
            let details = ending.problem.map { "\($0)\n" } ?? ""
            return CommandOutcome(.failure, errorOutput: "\(ending.code): \(ending.message)\n\(details)")
        } catch is Enough {
            return CommandOutcome(.success)
        } catch let error as CallClientError {
            return CommandOutcome(.data, errorOutput: "\(method): \(error).\n")
        } catch let error as ListenerAddressError {
            return CommandOutcome(.data, errorOutput: "\(error).\n")
        } catch {
            return CommandOutcome(.failure, errorOutput: "\(options.address): \(error)\n")
        }
    }

    private func call(
        _ client: CallClient, _ method: String, _ json: String, _ metadata: [(name: String, value: String)],
        _ show: @escaping @Sendable (String) -> Void
    ) async throws -> CallClient.Ending {
        let limit = options.limit
        let shown = Atomic(0)
        return try await client.call(method, json: Array(json.utf8), metadata: metadata, timeout: options.timeout) {
            show(String(decoding: $0, as: UTF8.self))
            if shown.add(1, ordering: .relaxed).newValue == limit { throw Enough() }
        }
    }

    private static func target(_ address: String) throws -> CallClient.Target.Address {
        // A name may stand for an address here: certificates have names.
        if !address.hasPrefix("unix:"), let colon = address.lastIndex(of: ":"),
            let port = Int(address[address.index(after: colon)...]), !address.contains("[")
        {
            return .tcp(host: String(address[..<colon]), port: port)
        }
        switch try ListenerAddress(address) {
        case .tcp(let host, let port): return .tcp(host: host, port: port)
        case .unix(let path, _): return .unix(path: path)
        }
    }
}

extension CallClient.Target.Address {
    /// Whether what goes there leaves the machine nowhere.
    fileprivate var isOfThisMachine: Bool {
        switch self {
        case .unix: true
        case .tcp(let host, _): ["localhost", "127.0.0.1", "::1"].contains(host)
        }
    }
}
