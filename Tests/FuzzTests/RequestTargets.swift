import Foundation
import HTTPTypes
import JOSE
import JSON
import OpenSSL
import TraceContext

@testable import AppReceipt
@testable import AppStoreAPI
@testable import Domain
@testable import HTTPAPI

/// What callers send: queries, header fields, tokens, cursors, times and bodies.
let requestTargets = [
    FuzzTarget(name: "query") { bytes in
        guard let text = bytes.text else { return }
        try hold(
            PercentDecoding.decode(PercentEncoding.encode(text)[...]) == UntrustedText(text),
            "percent-encoding loses something")
        if let decoded = PercentDecoding.decode(text[...]) {
            let again = PercentDecoding.decode(PercentEncoding.encode(decoded.streamSafe)[...])
            try hold(
                again?.streamSafe.utf8.elementsEqual(decoded.streamSafe.utf8) == true,
                "what was decoded is encoded otherwise")
        }
        guard let pairs = try? QueryString.parse(text) else { return }
        try hold(pairs.count <= QueryString.maximumParameters, "\(pairs.count) parameters")
        let written = pairs.map { "\(PercentEncoding.encode($0.name))=\(PercentEncoding.encode($0.value))" }
        let again = try QueryString.parse(written.joined(separator: "&"))
        try hold(again.elementsEqual(pairs, by: ==), "a query is read otherwise than it was written")
    },
    FuzzTarget(name: "trace-parent") { bytes in
        let parts = bytes.parts.map { String(decoding: $0, as: UTF8.self) }
        guard let parent = TraceParent(parts.first ?? "", state: parts.dropFirst().first) else { return }
        let again = TraceParent(parent.text, state: parent.state)
        try hold(again?.traceID == parent.traceID && again?.spanID == parent.spanID, "a trace is written otherwise")
        try hold(again?.state == parent.state, "a state is passed on that would be dropped")
        let sent = parent.headers.flatMap { Array($0.value.utf8) }
        try hold(sent.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x09 }, "a header has control characters")
    },
    FuzzTarget(name: "prefer") { bytes in
        guard let name = HTTPField.Name("Prefer") else { return }
        var fields = HTTPFields()
        for part in bytes.parts { fields.append(HTTPField(name: name, value: String(decoding: part, as: UTF8.self))) }
        let preferences = PreferHeader(RequestHeaders(fields))
        for goesOn in [false, true] {
            let applied = preferences.applied(goesOn: goesOn)
            let wait = preferences.wait(goesOn: goesOn)
            try hold((wait ?? 0) >= 0, "a wait of \(wait ?? 0) seconds")
            guard let applied else { continue }
            let again = PreferHeader(RequestHeaders([name: applied]))
            try hold(again.applied(goesOn: goesOn) == applied, "what is told as applied means something else")
            try hold(again.wait(goesOn: goesOn) == wait, "what is told as applied is another wait")
        }
    },
    FuzzTarget(name: "accept") { bytes in
        let accept = AcceptHeader(
            RequestHeaders(
                HTTPFields(bytes.parts.map { HTTPField(name: .accept, value: String(decoding: $0, as: UTF8.self)) })))
        let types = ["text/csv", "application/json", "text/plain"]
        for type in types {
            try hold(!accept.prefers(type, over: type), "a type is preferred to itself")
            for other in types where accept.prefers(type, over: other) {
                try hold(!accept.prefers(other, over: type), "each of two types is preferred to the other")
            }
        }
    },
    FuzzTarget(name: "page-token") { bytes in
        let coder = PageTokenCoder(
            authenticationCode: { content in
                // No secret is needed to see that what is altered is refused.
                (try? SHA256Digest.digest(Array("page".utf8) + content)) ?? []
            }, encode: Base64URL.encode, decode: Base64URL.decode)
        let text = String(decoding: bytes, as: UTF8.self)
        if let token = try? coder.token(text) {
            try hold(coder.text(token) == text, "a token is taken that was not issued so")
        }
        if let position = try? coder.position(text, query: "cases") {
            try hold(
                coder.text(position: position, query: "cases") == text, "a position is taken that was not issued so")
        }
        // Whatever a token holds is read as it was written, and for no other query.
        let short = String(decoding: bytes.prefix(1024), as: UTF8.self)
        let token = PageToken(snapshotID: "snapshot", offset: bytes.count, pageSize: 20, query: short)
        try hold(try coder.token(coder.text(token)) == token, "a token is read otherwise than it was written")
        guard !short.isEmpty else { return }
        let position = coder.text(position: short, query: "cases")
        try hold(
            try coder.position(position, query: "cases") == short, "a position is read otherwise than it was written")
        try hold((try? coder.position(position, query: "casess")) == nil, "a position is good for another query")
        try hold((try? coder.token(position)) == nil, "a position is taken for a snapshot's token")
    },
    FuzzTarget(name: "event-cursor") { bytes in
        guard let text = bytes.text, let cursor = EventCursor(text) else { return }
        try hold(cursor.text == text, "a cursor has two texts")
        try hold(cursor.position >= 0, "a cursor before the beginning")
    },
    FuzzTarget(name: "opaque-token") { bytes in
        guard let text = bytes.text else { return }
        switch OpaqueToken.read(text) {
        case .token(let id):
            try hold(OpaqueToken.isID(id) && text.hasPrefix(OpaqueToken.prefix + id), "another name")
            try hold(text.wholeMatch(of: /prs_[0-9A-Za-z]{57}/) != nil, "the documented expression does not find it")
        case .damaged: try hold(text.hasPrefix(OpaqueToken.prefix), "damaged though it does not begin as ours do")
        case .other: break
        }
    },
    FuzzTarget(name: "timestamp") { bytes in
        let theirs = bytes.text.flatMap(Timestamp.date)
        let ours = RFC3339Date.parse(bytes, 0..<bytes.count)
        // Before the calendar of today was agreed upon (1582), the two count by different ones.
        if let theirs, let ours, ours.timeIntervalSince1970 > -12_219_292_800 {
            try hold(abs(theirs.timeIntervalSince(ours)) < 0.002, "a request's time and a receipt's differ")
        }
        guard let theirs else { return }
        let written = Timestamp.text(theirs)
        try hold(Timestamp.date(written) == theirs, "\(written) is read as another time")
    },
    FuzzTarget(name: "forwarded") { bytes in
        guard let proxy = TrustedProxies.Network("10.0.0.0/8"), let other = TrustedProxies.Network("fd00::/8") else {
            throw FuzzFinding(description: "a network is none")
        }
        let forwarded = bytes.parts.map { String(decoding: $0, as: UTF8.self) }
        if let source = TrustedProxies([proxy, other]).source(peer: "10.0.0.1", forwarded: forwarded) {
            try hold(IPAddress.isValid(source), "`\(source)` is no address")
        }
        try hold(
            TrustedProxies([proxy]).source(peer: "192.0.2.1", forwarded: forwarded) == "192.0.2.1",
            "somebody is believed who is not trusted")
        guard let text = bytes.text else { return }
        if let network = TrustedProxies.Network(text), let address = SourceNetwork.bytes(of: text) {
            try hold(network.contains(address), "an address is not in its own network")
            try hold(IPAddress.isValid(text), "two readers of addresses disagree")
        }
        if IPAddress.isValid(text) {
            try hold(TrustedProxies.Network(text) != nil, "two readers of addresses disagree")
        }
    },
    FuzzTarget(name: "fields") { bytes in
        guard let body = try? FieldValue.fields(of: bytes) else { return }
        try hold(body.count == (try JSONScanner.members(of: bytes)).count, "a field is lost before anybody reads it")
        var fields = FieldReader(body: body)
        _ = fields.text("text")
        let bounded = fields.text("bounded", bytes: 1...8)
        let flag = fields.boolean("flag")
        let number = fields.integer("number", from: -5...5 as ClosedRange<Int32>)
        let identifier = fields.identifier("transactionId", .transaction, in: .body)
        let list = fields.strings("list", atMost: 8, expected: "an array", element: "a letter", nil) {
            $0.utf8.count == 1
        }
        fields.objects("objects") { object in _ = object.text("text") }
        let known = ["text", "bounded", "flag", "number", "transactionId", "list", "objects"]
        let unknown = body.keys.filter { !known.contains($0) }
        if fields.isValid {
            try hold(unknown.isEmpty, "a field passes that nobody read")
            try hold(
                bounded != nil && flag != nil && number != nil && identifier != nil && list != nil,
                "a field that is required is not there")
        } else {
            let violations = fields.error.violations
            try hold(!violations.isEmpty, "invalid without a violation")
            try hold(
                unknown.allSatisfy { name in violations.contains { $0.field == name && $0.rule == "unknownField" } },
                "a field that nobody read is not named")
        }
    },
]
