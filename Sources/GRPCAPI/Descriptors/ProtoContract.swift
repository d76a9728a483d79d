import Foundation

/// All messages, enumerations and methods of the face, read of their descriptors.
///
/// Nothing is generated for each message but its descriptor: 99 methods would be some 300 types of Swift, which a compiler takes
/// minutes for (`docs/decisions/0060-grpc-from-descriptors.md`).
package struct ProtoContract: Sendable {
    /// The descriptors cannot be read; a defect of the build.
    package struct Unreadable: Error {
        let what: String
    }

    let messages: [ProtoMessage]
    let enums: [ProtoEnum]
    let methods: [ProtoMethod]
    /// The files as they are, for reflection: by name, with what they import and declare.
    let files: [ProtoFile]
    private let messagesByName: [String: Int]

    /// The contract of this build.
    ///
    /// - Throws: `Unreadable`.
    package static func current() throws(Unreadable) -> ProtoContract {
        guard let data = Data(base64Encoded: GeneratedDescriptors.base64, options: .ignoreUnknownCharacters) else {
            throw Unreadable(what: "Base64")
        }
        return try ProtoContract(descriptorSet: Array(data))
    }

    /// Reads a `google.protobuf.FileDescriptorSet`.
    init(descriptorSet bytes: [UInt8]) throws(Unreadable) {
        do throws(WireReader.Malformed) {
            var reader = DescriptorReader()
            try reader.read(set: bytes)
            (messages, enums, methods) = try reader.linked()
            files = reader.files
        } catch {
            throw Unreadable(what: "the wire format")
        }
        messagesByName = Dictionary(messages.enumerated().map { ($1.fullName, $0) }) { first, _ in first }
    }

    /// The place of a message, by its full name.
    func message(named name: String) -> Int? { messagesByName[name] }

    /// The methods' routes: the method and path of HTTP that each calls.
    package var routes: [(method: String, path: String, listeners: [String])] {
        methods.filter { !$0.route.watches }.map { ($0.route.method, $0.route.path, $0.route.listeners) }
    }
}

/// One file of the contract.
struct ProtoFile: Sendable {
    let name: String
    /// Its descriptor.
    let bytes: [UInt8]
    let imports: [String]
    /// The full names of what it declares: messages, enumerations, services and their methods, extensions.
    let symbols: [String]
    /// The numbers of the extensions that it declares, by the message that they extend.
    let extensions: [(message: String, number: Int)]
}
