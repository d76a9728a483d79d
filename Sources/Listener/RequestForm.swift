import NIOCore
import NIOHTTP1

/// What makes a request ambiguous or none of ours, though its lines and fields are well-formed.
enum RequestFault: Error, Equatable {
    /// The target is not a path: that of a proxy, of `CONNECT` or of `OPTIONS *`.
    case target
    /// There is no host, more than one, or one that can be none.
    case host
    /// The body is in another transfer coding than `chunked`, or in one that its version does not know.
    case transferCoding
    /// A field that decides how the connection is read contains more than tab and U+0020 to U+007E.
    case characters(field: String)
}

/// Refuses the requests that another reader of the same bytes, such as a proxy in front, could take for something else.
///
/// It stands behind the HTTP decoder, which is strict about lines, fields and lengths, and before the types that keep neither a
/// request's version nor how often it names a host.
final class RequestForm: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    private var isRefused = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        if let fault = Self.fault(of: head) {
            // What follows is no request: where it begins depends on how this one is read.
            isRefused = true
            return context.fireErrorCaught(fault)
        }
        guard head.version != .http1_1 else { return context.fireChannelRead(data) }
        // Its client takes the end of the connection for the end of the answer.
        head.headers.replaceOrAdd(name: "Connection", value: "close")
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    /// Why a request is refused.
    ///
    /// Source: RFC 9112 sections 3.2, 6.1 and 11.2. Targets with a host (section 3.2.2) could contradict the field `Host`, and
    /// nobody sends them to what is no proxy.
    static func fault(of head: HTTPRequestHead) -> RequestFault? {
        // The decoder knows 1.0 besides.
        let isCurrent = head.version == .http1_1
        guard head.uri.utf8.first == UInt8(ascii: "/") else { return .target }
        var hosts = 0
        var codings = 0
        for (name, value) in head.headers {
            guard let field = readFields.first(where: { name.utf8.matches($0) }) else { continue }
            guard value.utf8.allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0x09 }) else {
                return .characters(field: field.description)
            }
            if name.utf8.matches("host") {
                hosts += 1
                guard value.utf8.allSatisfy(isInHost) else { return .host }
            } else if name.utf8.matches("transfer-encoding") {
                codings += 1
                guard value.utf8.matches("chunked") else { return .transferCoding }
            }
        }
        guard codings == 0 || codings == 1 && isCurrent else { return .transferCoding }
        guard hosts == 1 || hosts == 0 && !isCurrent else { return .host }
        return nil
    }

    /// The fields that the handlers from here to the responder read, in lower case.
    ///
    /// Those behind take their values for strings, and Unicode makes some strings cost the square of their length.
    private static let readFields: [StaticString] = [
        "connection", "content-length", "expect", "host", "transfer-encoding", "upgrade",
    ]

    /// Whether a byte may stand in a host with its port.
    ///
    /// Source: RFC 3986 section 3.2.2
    private static func isInHost(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~%!$&'()*+,;=:[]".utf8.contains(byte)
        }
    }
}

extension Sequence<UInt8> {
    /// Whether these are the bytes of a word of ours, without regard to the case of ASCII letters.
    func matches(_ lowercased: StaticString) -> Bool {
        lowercased.withUTF8Buffer { word in
            elementsEqual(word) { byte, wanted in
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 == wanted : byte == wanted
            }
        }
    }
}
