import Foundation

// Shapes of formats other than JSON.

extension Shape {
    /// A list of a header field: RFC 9110 section 5.6.
    static func lists(_ item: String) -> [Shape] {
        [
            pattern("list", "commas", "@", ","),
            pattern("list", "semicolons", "@", ";"),
            pattern("list", "equals-signs", "@", "="),
            pattern("list", "quotes", "@", "\""),
            pattern("list", "tabs", "@", " \t"),
            pattern("list", "items", "@\(item)", item + ", "),
            pattern("list", "parameters", "\(item)@", ";a=b"),
            items("list", "many-items", "", item + "$", ""),
        ]
    }

    /// Queries of many parameters and of many escapes.
    static let queries: [Shape] = [
        pattern("query", "separators", "@", "&"),
        pattern("query", "equals-signs", "a@", "="),
        pattern("query", "percent-signs", "a=@", "%"),
        pattern("query", "escaped-marks", "a=a@", "%CC%80"),
        pattern("query", "escaped-bytes", "a=@", "%FF"),
        pattern("query", "plus-signs", "a=@", "+"),
        items("query", "parameters", "", "a$=1", "", separator: "&"),
        // As many parameters as one request may have.
        Shape(place: "query", name: "200-parameters") { size in
            Array(
                (0..<200).map { "a\($0)=" }.map { Array($0.utf8) + repeated("%CC%80", upTo: size / 200 - 8) }
                    .joined(separator: [UInt8(ascii: "&")]))
        },
    ]

    /// Paths of many segments and of long ones.
    static let paths: [Shape] = [
        pattern("path", "slashes", "/v1/apps@", "/"),
        pattern("path", "segments", "/v1/apps@", "/a"),
        pattern("path", "colons", "/v1/apps/a/cases/@", ":decline"),
        pattern("path", "escaped-marks", "/v1/apps/a@", "%CC%80"),
        pattern("path", "escaped-slashes", "/v1/apps/a@", "%2F"),
    ]

    /// The fields of an HTTP response, a line each.
    static let responseFields: [Shape] =
        texts("name,value", "HTTP/1.1 200 OK\r\n@: @\r\n\r\n")
        + texts("Date", "HTTP/1.1 200 OK\r\nDate: @\r\n\r\n")
        + [
            pattern("Retry-After", "digits", "HTTP/1.1 200 OK\r\nRetry-After: @\r\n\r\n", "1"),
            pattern("lines", "fields", "HTTP/1.1 200 OK\r\n@\r\n", "a: b\r\n"),
            pattern("lines", "folded", "HTTP/1.1 200 OK\r\na: b\r\n@\r\n", " c\r\n"),
            pattern("lines", "status", "@\r\n", "HTTP/1.1 100 Continue\r\n\r\n"),
            pattern("lines", "empty", "@", "\r\n"),
            pattern("value", "tabs", "HTTP/1.1 200 OK\r\na: @b\r\n\r\n", " \t"),
        ]

    /// PEM files: lines, blocks and what is around them.
    static func pem(_ label: String, body: String) -> [Shape] {
        let (begin, end) = ("-----BEGIN \(label)-----\n", "-----END \(label)-----\n")
        return texts("label,body", "-----BEGIN @-----\n@\n-----END @-----\n\(begin)@\n\(end)")
            + [
                pattern("blocks", "beginnings", "@", begin),
                pattern("blocks", "empty", "@", begin + end),
                pattern("body", "lines", "\(begin)@\(end)", body + "\n"),
                pattern("body", "one-line", "\(begin)@\n\(end)", body),
                pattern("body", "blank-lines", "\(begin)@\(end)", " \t\n"),
                pattern("around", "hyphens", "@", "-"),
                pattern("around", "line-ends", "@\(begin)\(body)\n\(end)", "\r\n"),
            ]
    }

    /// Bytes that begin as DER does.
    static let der: [Shape] = [
        Shape(place: "der", name: "nested-sequences") { DER.sequences($0) },
        Shape(place: "der", name: "long-integers") { size in
            let number = DER.element(0x02, [UInt8](repeating: 1, count: max(1, size / 2 - 12)))
            return DER.element(0x30, number + number)
        },
        Shape(place: "der", name: "small-elements") { size in
            DER.element(0x30, repeated([0x02, 0x01, 0x01], upTo: size - 8))
        },
    ]

    /// Files of comma-separated values and of JSON lines, for an import of links.
    static let imports: [Shape] =
        texts("csv-values", csvHeader + "@,transactionId,\"@\"\n") + texts("csv-header", "user,kind,value,@\n")
        + texts("json-name,value", #"{"user":"u","kind":"@","value":"@","@":1}"#)
        + [
            pattern("csv-record", "commas", csvHeader + "@\n", ","),
            pattern("csv-record", "quotes", csvHeader + "\"@\"\n", "\"\""),
            pattern("csv-record", "line-feeds", csvHeader + "\"@\"\n", "\n"),
            pattern("csv-record", "open-quote", csvHeader + "\"@", "a\n"),
            pattern("csv-lines", "blank", csvHeader + "@", "\n"),
            pattern("csv-lines", "faults", csvHeader + "@", "a\"\n"),
            items("csv-lines", "records", csvHeader, "u$,transactionId,$\n", "", separator: ""),
            items("csv-header", "columns", "user,kind,value", ",c$", "\n", separator: ""),
            items("json-lines", "records", "", #"{"user":"u$","kind":"k","value":"$"}"# + "\n", "", separator: ""),
        ]

    private static let csvHeader = "user,kind,value\n"

    /// Documents of YAML.
    static let yaml: [Shape] =
        texts("key,value", "\"@\": \"@\"\n")
        + [
            pattern("plain", "letters", "a: @\n", "b"),
            pattern("plain", "digits", "a: @\n", "1"),
            pattern("flow", "nested", "a: @", "["),
            pattern("flow", "elements", "a: [@0]\n", "0,"),
            pattern("flow", "empty", "a: [@0]\n", "{},"),
            pattern("block", "elements", "a:\n@", "- 0\n"),
            pattern("block", "nested", "@0\n", "- "),
            pattern("block", "literal", "a: |\n@", "  b\n"),
            pattern("block", "comments", "a: 1\n@", "# b\n"),
            pattern("block", "documents", "a: 1\n@", "---\n"),
            pattern("flow", "aliases", "a: &a 1\nb: [@0]\n", "*a,"),
            items("block", "keys", "", "k$: 1\n", "", separator: ""),
            items("block", "anchors", "a:\n", "- &a$ 1\n", "", separator: ""),
            pattern("block", "one-key", "@", "a: 1\n"),
        ]
}

// MARK: DER and BER

/// Writes the encoding rules of ASN.1 (X.690).
enum DER {
    /// An element of definite length.
    static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        guard content.count >= 0x80 else { return [tag, UInt8(content.count)] + content }
        // Always four bytes, so that the length of an element does not depend on its content's.
        let length = (0..<4).map { UInt8(truncatingIfNeeded: content.count >> (24 - 8 * $0)) }
        return [tag, 0x84] + length + content
    }

    /// Sequences within each other until the size is used up.
    static func sequences(_ size: Int) -> [UInt8] {
        // Indefinite lengths, so that each level costs its own bytes alone.
        let levels = max(1, size / 4)
        return repeated([0x30, 0x80], upTo: levels * 2) + [UInt8](repeating: 0, count: levels * 2)
    }
}

extension Shape {
    /// Receipts of both styles.
    static let receipts: [Shape] =
        texts("plist", #"{ "environment" = "@"; "@" = "a"; "purchase-info" = "e30="; }"#)
        + HostileText.all.map { text in
            let bundle = Shape(place: "bundle-id", name: text.name, bytes: text.bytes)
            return bundle.wrapped(overhead: 96) { container(attribute(2, DER.element(0x0C, $0))) }
        }
        + [
            pattern("plist", "escapes", #"{ "a" = "@"; "purchase-info" = "e30="; }"#, #"\U0300"#),
            pattern("plist", "blanks-in-base64", #"{ "purchase-info" = "@"; }"#, "QUJD "),
            pattern("plist", "word", "{ @ = a; }", "a"),
            pattern("plist", "white-space", "{@}", " \t\r\n"),
            items("plist", "members", "{", "k$=v;", "}", separator: ""),
            pattern("plist", "one-name", "{@}", "a=b;"),
            pattern("ber", "zeros", "0@", "\0"),
            Shape(place: "ber", name: "nested-sequences") { DER.sequences($0) },
            Shape(place: "ber", name: "attributes") { size in
                container(repeated(attribute(99, [0x0C, 0x01, 0x61]), upTo: size - 96))
            },
            Shape(place: "ber", name: "purchases") { size in
                let name = attribute(1702, DER.element(0x0C, Array("coins".utf8)))
                return container(repeated(attribute(17, DER.element(0x31, name)), upTo: size - 96))
            },
            Shape(place: "ber", name: "one-purchase") { size in
                let names = repeated(attribute(1703, DER.element(0x0C, Array("1".utf8))), upTo: size - 128)
                return container(attribute(17, DER.element(0x31, names)))
            },
            Shape(place: "ber", name: "pieces") { size in
                container(octets: [0x24, 0x80] + repeated([0x04, 0x01, 0x31], upTo: size - 96) + [0, 0])
            },
            Shape(place: "ber", name: "nested-pieces") { size in
                let piece = repeated([0x24, 0x80], upTo: 12) + [0x04, 0x01, 0x31] + [UInt8](repeating: 0, count: 12)
                return container(octets: [0x24, 0x80] + repeated(piece, upTo: size - 96) + [0, 0])
            },
            Shape(place: "ber", name: "indefinite-lengths") { size in
                container([0x31, 0x80] + repeated([0x30, 0x80, 0, 0], upTo: size - 96) + [0, 0], isSet: true)
            },
        ]

    /// An attribute of a receipt.
    private static func attribute(_ type: Int, _ value: [UInt8]) -> [UInt8] {
        let type = type < 0x80 ? [UInt8(type)] : [UInt8(type >> 8), UInt8(type & 0xFF)]
        return DER.element(
            0x30, DER.element(0x02, type) + DER.element(0x02, [1]) + DER.element(0x04, value))
    }

    /// A container whose content is a SET of these attributes.
    private static func container(_ attributes: [UInt8], isSet: Bool = false) -> [UInt8] {
        container(octets: DER.element(0x04, isSet ? attributes : DER.element(0x31, attributes)))
    }

    /// An unsigned container of PKCS #7 with an octet string (RFC 5652 section 5.1).
    private static func container(octets: [UInt8]) -> [UInt8] {
        let signedData: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]
        let data: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]
        let content = DER.element(0x30, data + DER.element(0xA0, octets))
        let empty = DER.element(0x31, [])
        return DER.element(
            0x30,
            signedData
                + DER.element(0xA0, DER.element(0x30, DER.element(0x02, [1]) + empty + content + empty)))
    }
}

// MARK: Protocol Buffers

extension Shape {
    /// Messages in the wire format, each below a line with the name of its type, as the fuzz target reads them.
    ///
    /// Fields are written by number; the numbers are those of `api/purser/v1`.
    static let messages: [Shape] =
        fields("texts,map-key", count: 3) { message("AddCallerRequest", field(1, $0) + field(5, $0) + scopes($0)) }
        + fields("additional-key", count: 2) { text in
            let entry = field(34, field(1, text) + field(2, Array("1".utf8)))
            return message("JWSTransactionDecodedPayload", field(20, text) + entry)
        }
        + fields("struct-key") { message("PolicyResult", report([0x20, 0x01], key: $0)) }
        + [
            Shape(place: "wire", name: "certificates") { size in
                message("AddCallerRequest", repeated(field(5, Array("a".utf8)), upTo: size - 96))
            },
            Shape(place: "wire", name: "certificates-empty") { size in
                message("AddCallerRequest", repeated(field(5, []), upTo: size - 96))
            },
            Shape(place: "wire", name: "packed-numbers") { size in
                message("AddCallerRequest", field(6, [UInt8](repeating: 1, count: size - 96)))
            },
            Shape(place: "wire", name: "long-varint") { size in
                message("AddCallerRequest", [0x30] + [UInt8](repeating: 0x80, count: size - 96))
            },
            Shape(place: "wire", name: "unknown-fields") { size in
                message("AddCallerRequest", repeated([0x78, 0x01], upTo: size - 96))
            },
            Shape(place: "wire", name: "parts") { size in
                message("SendUserConsumptionRequest", repeated([0x3A, 0x02, 0x18, 0x01], upTo: size - 96))
            },
            Shape(place: "wire", name: "groups") { size in
                message("AddCallerRequest", repeated([0x7B], upTo: size - 96))
            },
            Shape(place: "struct", name: "nested-lists") { size in
                // Each list that is a value of a list adds six bytes.
                let value = (0..<20).reduce([0x20, 0x01]) { value, _ in field(6, field(1, value)) }
                return message(
                    "PolicyResult", report(field(6, repeated(field(1, value), upTo: size - 128)), key: [0x61]))
            },
            items("", "", "", "a$", "", separator: "").numbered("scopes-keys") { message("AddCallerRequest", $0) },
        ]

    /// Every text in a message that contains it so many times.
    private static func fields(
        _ place: String, count: Int = 1, _ wrap: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) -> [Shape] {
        HostileText.all.map {
            Shape(place: place, name: $0.name, bytes: $0.bytes).wrapped(factor: (1, count), overhead: 128, wrap)
        }
    }

    /// Map entries whose keys are the seven bytes of each item.
    private func numbered(_ name: String, _ wrap: @escaping @Sendable ([UInt8]) -> [UInt8]) -> Shape {
        let inner = self
        return Shape(place: "wire", name: name) { size in
            let keys = inner.bytes((size - 96) / 15 * 7)
            return wrap(stride(from: 0, to: keys.count, by: 7).flatMap { Self.scopes(Array(keys[$0..<$0 + 7])) })
        }
    }

    private static func message(_ type: String, _ bytes: [UInt8]) -> [UInt8] {
        Array("purser.v1.\(type)\n".utf8) + bytes
    }

    /// An entry of `AddCallerRequest.scopes`.
    private static func scopes(_ key: [UInt8]) -> [UInt8] { field(2, field(1, key) + field(2, [0x08, 0x01])) }

    /// `PolicyResult.report`, a `google.protobuf.Struct` with one member.
    private static func report(_ value: [UInt8], key: [UInt8]) -> [UInt8] {
        field(12, field(1, field(1, key) + field(2, value)))
    }

    /// A field that has a length.
    private static func field(_ number: UInt64, _ content: [UInt8]) -> [UInt8] {
        varint(number << 3 | 2) + varint(UInt64(content.count)) + content
    }

    private static func varint(_ number: UInt64) -> [UInt8] {
        var (rest, bytes) = (number, [UInt8]())
        while rest >= 0x80 {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }
}
