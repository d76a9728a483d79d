package import GRPCCore
import GRPCNIOTransportHTTP2Posix
import JSON

/// Calls methods of the contract with JSON, by the same descriptors as the daemon serves them: for `purser call`, for trying
/// things out, and as an example of a client in Swift that needs no generated code.
package struct CallClient: Sendable {
    /// Where a daemon listens, and what proves who is who.
    package struct Target: Sendable {
        package enum Address: Sendable {
            case tcp(host: String, port: Int)
            case unix(path: String)
        }

        package var address: Address
        /// A PEM file with the authorities that vouch for the server; nil for plain text.
        package var authorities: String?
        /// PEM files with the certificate that the client shows, and its key.
        package var identity: (chain: String, key: String)?

        package init(
            _ address: Address, authorities: String? = nil, identity: (chain: String, key: String)? = nil
        ) {
            self.address = address
            self.authorities = authorities
            self.identity = identity
        }
    }

    /// How a call ended.
    package struct Ending: Sendable {
        /// The status, such as `NOT_FOUND`; `OK` for success.
        package let code: String
        package let message: String
        /// What came before the first message.
        package let metadata: [(name: String, value: String)]
        /// What came after the last.
        package let trailers: [(name: String, value: String)]
        /// The problem among the details, as JSON; nil where there is none.
        package let problem: String?
    }

    private let client: GRPCClient<HTTP2ClientTransport.Posix>
    private let contract: ProtoContract

    /// Lends a connection to a closure.
    package static func with<Result: Sendable>(
        _ target: Target, _ body: (CallClient) async throws -> Result
    ) async throws -> Result {
        let security: HTTP2ClientTransport.Posix.TransportSecurity =
            switch (target.authorities, target.identity) {
            case (nil, _): .plaintext
            case (let authorities?, nil):
                .tls { $0.trustRoots = .certificates([.file(path: authorities, format: .pem)]) }
            case (let authorities?, let (chain, key)?):
                .mTLS(
                    certificateChain: [.file(path: chain, format: .pem)], privateKey: .file(path: key, format: .pem)
                ) { $0.trustRoots = .certificates([.file(path: authorities, format: .pem)]) }
            }
        let transport: HTTP2ClientTransport.Posix =
            switch target.address {
            case .tcp(let host, let port):
                try HTTP2ClientTransport.Posix(target: .dns(host: host, port: port), transportSecurity: security)
            case .unix(let path):
                try HTTP2ClientTransport.Posix(
                    target: .unixDomainSocket(path: path, authority: "localhost"), transportSecurity: security)
            }
        let contract = try ProtoContract.current()
        return try await withGRPCClient(transport: transport) { client in
            try await body(CallClient(client: client, contract: contract))
        }
    }

    /// The message that says what a JSON object says, and the path of the method that takes it.
    ///
    /// `path`: as ``call(_:json:metadata:timeout:isStrict:_:)`` takes it.
    ///
    /// - Throws: `CallClientError`.
    package static func message(
        for path: String, json: [UInt8], _ contract: ProtoContract
    ) throws(CallClientError) -> (path: String, bytes: [UInt8]) {
        let (method, bytes) = try encode(json, for: path, contract, isStrict: true)
        return (method.path, bytes)
    }

    private static func encode(
        _ json: [UInt8], for path: String, _ contract: ProtoContract, isStrict: Bool
    ) throws(CallClientError) -> (method: ProtoMethod, bytes: [UInt8]) {
        guard let method = contract.methods.first(where: { $0.path == path || $0.name == path }) else {
            throw CallClientError(description: "there is no method \(path)")
        }
        let object: JSONMembers
        do {
            object = try JSONScanner.members(of: json)
        } catch {
            throw CallClientError(description: "the request is no JSON object: \(error)")
        }
        var writer = MessageWriter(contract)
        let bytes = writer.bytes(of: object, as: method.input)
        // What is not said in the message would be passed over in silence, where a route refuses what it does not know.
        guard !isStrict || writer.lost.isEmpty else {
            throw CallClientError(description: writer.lost.joined(separator: "; "))
        }
        return (method, bytes)
    }

    /// Calls a method with one JSON object, and hands on the JSON of each answer.
    ///
    /// `path`: `purser.v1.CasesService/ListCases`, or the method's name alone. `isStrict`: whether it is an error that something of the
    /// object has no place in the method's message, which else is left out.
    ///
    /// - Throws: `CallClientError`.
    package func call(
        _ path: String, json: [UInt8], metadata: [(name: String, value: String)] = [], timeout: Duration? = nil,
        isStrict: Bool = true, _ take: @escaping @Sendable ([UInt8]) async throws -> Void
    ) async throws -> Ending {
        let contract = contract
        let (method, message) = try Self.encode(json, for: path, contract, isStrict: isStrict)
        return try await call(method.path, message, metadata: metadata, timeout: timeout) { answer in
            var reader = MessageReader(contract)
            guard let parsed = reader.parse(answer, method.output) else {
                throw CallClientError(description: "the answer is no \(contract.messages[method.output].fullName)")
            }
            var writer = JSONWriter(capacity: answer.count * 2)
            reader.write(parsed, method.output, to: &writer)
            try await take(writer.takeBytes())
        }
    }

    /// Calls a method with a message, and hands on each answer.
    package func call(
        _ path: String, _ message: [UInt8], metadata: [(name: String, value: String)] = [], timeout: Duration? = nil,
        _ take: @escaping @Sendable ([UInt8]) async throws -> Void
    ) async throws -> Ending {
        let parts = path.split(separator: "/")
        let details = StatusDetails(contract)
        var options = CallOptions.defaults
        options.timeout = timeout
        options.maxResponseMessageBytes = Int(Int32.max)
        do {
            return try await client.serverStreaming(
                request: ClientRequest(
                    message: message, metadata: Metadata(metadata.map { ($0.name, .string($0.value)) })),
                descriptor: MethodDescriptor(
                    fullyQualifiedService: String(parts.first ?? ""), method: String(parts.last ?? "")),
                serializer: PlainMessages(), deserializer: PlainMessages(), options: options
            ) { response in
                switch response.accepted {
                case .failure(let error): return Self.ending(error, [:], details)
                case .success(let contents):
                    var trailers: Metadata = [:]
                    do {
                        for try await part in contents.bodyParts {
                            switch part {
                            case .message(let bytes): try await take(bytes)
                            case .trailingMetadata(let metadata): trailers = metadata
                            }
                        }
                    } catch let error as RPCError {
                        return Self.ending(error, contents.metadata, details)
                    }
                    return Ending(
                        code: "OK", message: "", metadata: Self.texts(contents.metadata),
                        trailers: Self.texts(trailers),
                        problem: nil)
                }
            }
        } catch let error as RPCError {
            // The call has not come to an answer.
            return Self.ending(error, [:], details)
        }
    }

    private static func texts(_ metadata: Metadata) -> [(name: String, value: String)] {
        metadata.map { ($0.key, $0.value.encoded()) }
    }

    private static func ending(_ error: RPCError, _ metadata: Metadata, _ details: StatusDetails) -> Ending {
        Ending(
            code: Status.Code.name(of: error.code.rawValue), message: error.message, metadata: texts(metadata),
            trailers: texts(error.metadata),
            problem: error.metadata[binaryValues: "grpc-status-details-bin"].first { _ in true }.flatMap(
                details.problem))
    }
}

/// Reads the details of a status.
private struct StatusDetails: Sendable {
    private let contract: ProtoContract

    init(_ contract: ProtoContract) { self.contract = contract }

    /// The `purser.v1.Problem` among the details of a `google.rpc.Status`, as JSON.
    func problem(in status: [UInt8]) -> String? {
        guard let message = contract.message(named: "purser.v1.Problem") else { return nil }
        var reader = WireReader(status)
        while let (number, value) = try? reader.next() {
            guard number == 3, case .bytes(let range) = value else { continue }
            var any = WireReader(status, in: range)
            var (type, content) = ("", [UInt8]())
            while let (number, value) = try? any.next() {
                guard case .bytes(let range) = value else { continue }
                if number == 1 { type = String(decoding: status[range], as: UTF8.self) }
                if number == 2 { content = Array(status[range]) }
            }
            guard type.hasSuffix("/purser.v1.Problem") else { continue }
            var reader = MessageReader(contract)
            var writer = JSONWriter(capacity: content.count * 2)
            guard let parsed = reader.parse(content, message) else { return nil }
            reader.write(parsed, message, to: &writer)
            return String(decoding: writer.takeBytes(), as: UTF8.self)
        }
        return nil
    }
}

/// A call could not be made of what was asked.
package struct CallClientError: Error, CustomStringConvertible {
    package let description: String
}

/// Messages as they are.
package struct PlainMessages: MessageSerializer, MessageDeserializer {
    package init() {}

    package func serialize<Bytes: GRPCContiguousBytes>(_ message: [UInt8]) throws -> Bytes { Bytes(message) }

    package func deserialize<Bytes: GRPCContiguousBytes>(_ serializedMessageBytes: Bytes) throws -> [UInt8] {
        serializedMessageBytes.withUnsafeBytes { Array($0) }
    }
}
