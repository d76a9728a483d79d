import Foundation
import HTTPTypes
import JOSE
import JSON
import Logging
import OpenSSL

@testable import AppStoreAPI
@testable import AppStoreClient
@testable import Curl
@testable import Daemon
@testable import Domain
@testable import HTTPAPI
@testable import HTTPRoutes
@testable import Systemd

// Every call of the program into the modules that it measures, besides those of the fuzz targets.

/// A parser and the shapes that it is measured with.
struct HostileParser: Sendable {
    let name: String
    /// The longest input that the parser reads, in bytes, up to which it is measured as well.
    ///
    /// Nil where there is no limit below 1 MiB.
    var limit: Int?
    let shapes: [Shape]
    /// Reads the bytes; throws only what must never happen.
    let run: @Sendable ([UInt8]) throws -> Void

    static let all = direct + targets

    /// The fuzz targets whose own checks take linear time.
    private static let targets = FuzzTarget.all.filter { !readElsewhere.contains($0.name) }.map { target in
        let (limit, shapes) = shapes(of: target.name)
        return HostileParser(name: target.name, limit: limit, shapes: shapes, run: target.run)
    }

    /// The targets whose own checks would fail: they make sets of names, compare with Foundation, or search for each name.
    ///
    /// `direct` calls their parsers.
    private static let readElsewhere: Set = ["json", "json-text", "fields", "apple-models", "http-header"]

    /// Shapes for a fuzz target; for one that is not listed, every text.
    private static func shapes(of target: String) -> (limit: Int?, shapes: [Shape]) {
        switch target {
        case "query":
            (nil, Shape.texts("name,value", "@=@") + Shape.queries)
        case "prefer":
            (nil, Shape.texts("preferences", "@, wait=@") + Shape.lists("wait=1"))
        case "accept":
            (
                nil,
                Shape.texts("types", "@, text/csv;@;q=0.@") + Shape.lists("text/csv;q=0.5")
            )
        case "forwarded":
            (
                nil,
                Shape.texts("hop", "@") + Shape.lists("10.0.0.1") + [
                    .pattern("hop", "dots", "@", "1."), .pattern("hop", "colons", "@", ":"),
                    .pattern("hop", "brackets", "@", "["),
                ]
            )
        case "trace-parent":
            (
                nil,
                (Shape.texts("state", traceParent) + [traceMembers]).map {
                    $0.wrapped { $0.map { $0 == 0 ? 0xFF : $0 } }
                }
            )
        case "page-token": (4096, Shape.texts("token", "@") + Shape.base64)
        case "event-cursor": (nil, Shape.texts("epoch", "@-5") + [.pattern("position", "digits", "a-@", "1")])
        case "opaque-token": (nil, Shape.texts("secret", "prs_@"))
        case "timestamp":
            (
                nil,
                Shape.texts("offset", "2026-01-31T12:00:00@") + [.pattern("fraction", "digits", timeFraction, "1")]
            )
        case "grpc-timestamp": (nil, Shape.texts("time", "@") + [.pattern("fraction", "digits", timeFraction, "1")])
        case "grpc-message": (nil, Shape.messages)
        case "base64": (nil, Shape.texts("whole", "@") + Shape.base64)
        case "jws":
            (
                CompactJWS.defaultMaximumCount,
                Shape.jsonTexts(["alg"]).map { $0.inJWS(asHeader: true) } + [
                    .pattern("parts", "dots", "@", "."), .pattern("parts", "digits", "@", "A"),
                ]
            )
        case "jose-header":
            (
                nil,
                Shape.jsonValues(["alg"], place: "alg")
                    + Shape.texts("name,value", #"{"alg":"ES256","kid":"@","typ":"@","@":1}"#)
                    + Shape.structures("members")
                    + [
                        .pattern("x5c", "certificates", #"{"alg":"ES256","x5c":[@"QUJD"]}"#, #""QUJD","#),
                        .pattern("x5c", "blanks", #"{"alg":"ES256","x5c":["@"]}"#, "QUJD "),
                        .pattern("x5c", "digits", #"{"alg":"ES256","x5c":["@"]}"#, "QUJD"),
                    ]
            )
        case "jwt-claims":
            (
                nil,
                Shape.jsonTexts(["iss", "aud", "bid"])
                    + Shape.structures("members", "nested-objects", "escaped-name") + [
                        .pattern("aud", "elements", #"{"aud":[@"a"]}"#, #""a","#)
                    ]
            )
        case "receipt": (nil, Shape.receipts)
        case "private-key", "public-key", "certificate":
            (nil, pem(target) + Shape.der)
        case "ecdsa-signature": (nil, Shape.der)
        case "certificate-chain":
            (nil, Shape.der + [repeating(fixture: "certificate-chain/signed-chain", "certificates")])
        default: (nil, Shape.texts("whole", "@"))
        }
    }

    private static let timeFraction = "2026-01-31T12:00:00.@Z"
    /// The zero becomes what separates the fields for the fuzz target, which is no UTF-8.
    private static let traceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\u{0}@"

    private static let traceMembers = Shape.pattern("state", "members", traceParent, "a=b,")

    private static func pem(_ target: String) -> [Shape] {
        let (label, file) =
            switch target {
            case "private-key": ("PRIVATE KEY", "private-key/pem")
            case "public-key": ("PUBLIC KEY", "public-key/pem")
            default: ("CERTIFICATE", "certificate/pem-file")
            }
        return Shape.pem(label, body: String(repeating: "QUJD", count: 16))
            + [repeating(fixture: file, "whole-files")]
    }

    /// A file of the corpus as often as it fits.
    private static func repeating(fixture: String, _ name: String) -> Shape {
        let bytes = (try? FuzzTarget.fixture("corpus/\(fixture)")) ?? [0]
        return Shape(place: "blocks", name: name) { repeated(bytes, upTo: $0) }
    }
}

// MARK: Parsers that are called directly

/// The bytes as the modules take text that is not JSON.
private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

extension HostileParser {
    private static let direct = [
        HostileParser(
            name: "json-members", shapes: Shape.jsonNames + Shape.jsonValues(["environment"]) + Shape.jsonStructures
        ) { bytes in
            guard let members = try? JSONScanner.members(of: bytes) else { return }
            use(members.keys)
            for name in ["environment", "bundleId", "n"] { use(members[name]) }
            for (_, slice) in members {
                use(slice.string)
                use(slice.int64)
                use(slice.double)
                use(slice.array)
                use(slice.object)
            }
        },
        HostileParser(
            name: "json-tree",
            shapes: Shape.jsonTexts(["environment"])
                + Shape.structures("nested-objects", "too-deep", "elements", "members", "escaped-names")
        ) { bytes in
            guard let value = try? JSONValue(parsing: bytes) else { return }
            use(value["environment"])
            use(value.serialized())
            use(value == (try? JSONValue(parsing: bytes)))
        },
        HostileParser(
            name: "fields",
            shapes: Shape.jsonNames
                + Shape.structures(
                    "digits", "fraction-digits", "nested-objects", "empty-objects", "members", "marked-names",
                    "escaped-name")
        ) { bytes in
            guard let body = try? FieldValue.fields(of: bytes) else { return }
            var fields = FieldReader(body: body)
            use(fields.text("n"))
            use(fields.isValid ? nil : fields.error)
        },
        HostileParser(name: "body-rules", shapes: bodies) { bytes in
            guard let body = try? FieldValue.fields(of: bytes) else { return }
            for read in bodyRules {
                var fields = FieldReader(body: body)
                read(&fields)
                use(fields.isValidSoFar)
            }
        },
        HostileParser(
            name: "query-rules",
            shapes: Shape.texts("name,values", "@=a&sort=@&productId=@") + Shape.queries.suffix(2)
        ) { bytes in
            guard let query = try? QueryString.parse(text(bytes)) else { return }
            var fields = FieldReader(query: query)
            use(HistoryFilter(&fields))
            use(fields.isValid ? nil : fields.error)
        },
        HostileParser(
            name: "path", shapes: Shape.texts("app,case", "/v1/apps/@/cases/@:decline") + Shape.paths
        ) { bytes in
            guard case .found(_, let parameters) = routes.match(.get, text(bytes)) else { return }
            for (_, value) in parameters { use(PercentDecoding.decode(value)?.checked.map { try? apps.app($0) }) }
        },
        HostileParser(
            name: "authorization",
            shapes: Shape.texts("scheme", "@ a") + Shape.texts("token", "Bearer @")
                + Shape.jsonValues(["iss", "aud", "bid"]).map(bearer)
        ) { bytes in
            let headers = RequestHeaders([.authorization: text(bytes)])
            use(try? resolver.resolve(PresentedCredentials(authorization: headers[.authorization])))
        },
        HostileParser(
            name: "signed-data", limit: CompactJWS.defaultMaximumCount,
            shapes: (Shape.jsonTexts(["environment", "bundleId"])
                + Shape.texts("data", #"{"data":{"environment":"@","bundleId":"@"}}"#) + Shape.structures("members"))
                .map { $0.inJWS(asHeader: false) }
        ) { bytes in
            let signed = text(bytes)
            use(NotificationClaims(unverified: signed))
            for kind in [SignedDataKind.notification, .transaction] {
                guard let data = try? verifier.read(signed, kind) else { continue }
                use(data.origin.fault(kind, app: app, environment: .production))
                use(verifier.knownSigner(of: data))
            }
        },
        HostileParser(
            name: "apple-models",
            shapes: Shape.jsonTexts(["environment", "bundleId", "notificationType", "deliveryStatus"])
                + Shape.structures("nested-objects", "members", "marked-names")
        ) { bytes in
            read(NotificationPayload.self, bytes)
            read(TransactionPayload.self, bytes)
            read(ConsumptionRequest.self, bytes)
        },
        HostileParser(
            name: "apple-answers",
            shapes: [
                .pattern("data", "elements", #"{"data":[@{}]}"#, "{},"),
                .pattern("transactions", "elements", #"{"signedTransactions":[@"a"]}"#, #""a","#),
                .pattern("errorMessage", "letters", #"{"errorMessage":"@"}"#, "a"),
            ]
        ) { bytes in
            read(StatusResponse.self, bytes)
            read(HistoryResponse.self, bytes)
            read(ErrorPayload.self, bytes)
        },
        HostileParser(name: "http-header", shapes: Shape.responseFields) { bytes in
            var collector = ResponseCollector(maximumHeaderBytes: .max, maximumBodyBytes: 0)
            for line in bytes.split(separator: UInt8(ascii: "\n")) {
                let line = Array(line) + [UInt8(ascii: "\n")]
                guard line.withUnsafeBufferPointer({ collector.receiveHeader($0) }) else { return }
            }
            for (name, value) in collector.headers { use((name, value)) }
            use(collector.headers.date)
            use(collector.headers.retryAfter(at: Date(timeIntervalSince1970: 0)))
        },
        HostileParser(name: "import", shapes: Shape.imports) { bytes in
            let columns = ImportReader.Columns(
                required: ["user", "kind", "value"], optional: ["environment", "app"], identity: ["kind", "value"])
            var reader = ImportReader(columns, maximumBytes: 1 << 30)
            for start in stride(from: 0, to: bytes.count, by: 1 << 16) {
                guard let items = try? reader.read(Array(bytes[start..<min(start + 1 << 16, bytes.count)])) else {
                    return
                }
                use(items)
            }
            use(try? reader.finish())
        },
        HostileParser(name: "yaml", shapes: Shape.yaml) { use(try? YAMLDocument(text: text($0), file: "purser.yaml")) },
        HostileParser(name: "log-text", shapes: Shape.texts("value", "@")) { bytes in
            let value = text(bytes)
            use(LogText.line(value, [("cause", .string(value))]))
            var line: [UInt8] = []
            LogText.append(value, to: &line, limit: .max)
            LogText.appendJSON(value, to: &line, limit: 1 << 30)
            use(line)
        },
    ]

    private static func read<Model: WireModel>(_ type: Model.Type, _ bytes: [UInt8]) {
        guard let model = try? type.init(parsing: bytes) else { return }
        use(model.missingFields)
        use(model.serialized())
    }
}

// MARK: What the parsers need

extension HostileParser {
    private static let app = App(slug: "coins", bundleID: "com.example.coins")
    private static let apps = AppCatalog([app])
    private static let verifier = SignedDataVerifier(roots: [], now: now)
    private static let now: WallClock = { Date(timeIntervalSince1970: 1_790_000_000) }

    private static let routes = RouteTable([
        (.get, "/v1/apps/{app}/users"), (.get, "/v1/apps/{app}/cases/{case}"),
        (.get, "/v1/apps/{app}/cases/{case}:decline"),
    ])

    /// Without any caller, so that every credential is read to its end.
    private static let resolver: CallerResolver = {
        let registry = CallerRegistry(configured: [], now: now)
        let tokens = CallerTokenChecker(issuerID: "issuer", registry: registry, apps: apps, now: now) { text in
            guard let jws = try? CompactJWS(text), let header = try? jws.parseHeader(),
                let payload = try? jws.decodePayload(), let claims = try? JWTClaims(parsing: payload)
            else { return nil }
            var token = CallerToken { _ in false }
            (token.keyID, token.type, token.issuer) = (header.keyID, header.type, claims.issuer)
            (token.audience, token.bundleID) = (claims.audience, claims.text("bid"))
            return token
        }
        return CallerResolver(
            registry: registry, tokens: tokens, digest: { (try? SHA256Digest.digest($0)) ?? [] }, now: now)
    }()

    private static let bodyRules: [@Sendable (inout FieldReader) -> Void] = [
        { use(ConsumptionRules.read(&$0)) },
        { use(SignedDataService.items(&$0)) },
        { use(ReceiptUpload(&$0, metadata: nil, requestAddress: nil)) },
        { use(StoreKitRequest.promotionalOffer(&$0)) },
        { use(StoreKitRequest.advancedCommerce(&$0, body: [])) },
        { use(OriginalPromotionalOffer(&$0)) },
        { use(NotificationHistoryQuery(&$0, environment: .production, now: now())) },
        { use(UsageService.subject(&$0)) },
        { use(AppAccountToken.read(&$0)) },
        { use(MassRenewalExtension(&$0)) },
    ]

    private static let bodies =
        Shape.jsonValues(["deliveryStatus", "refundPreference"], place: "deliveryStatus")
        + Shape.jsonValues([
            "appAccountToken",
            "productId", "offerIdentifier", "transactionId", "user", "receipt", "country_code",
            "identifier_for_vendor", "user_identifier", "ip_address", "notificationType", "requestIdentifier",
            "applicationUsername", "operation",
        ])
        + Shape.texts("nested", #"{"signedData":[{"kind":"@","signed":"@"}],"metadata":{"@":1}}"#)
        + [
            .pattern("receipt", "blanks", #"{"receipt":"@"}"#, "QUJD "),
            .pattern("receipt", "line-breaks", #"{"receipt":"@"}"#, #"QUJD\r\n"#),
            .pattern("receipt", "digits", #"{"receipt":"@"}"#, "QUJD"),
            .items("metadata", "members", #"{"receipt":"QUJD","metadata":{"#, #""k$":1"#, "}}"),
            .items("signedData", "elements", #"{"signedData":["#, #"{"kind":"k$","signed":"s"}"#, "]}"),
            .items("storefronts", "elements", #"{"storefrontCountryCodes":["#, #""A$""#, "]}"),
            .items("products", "elements", #"{"items":["#, #"{"sku":"k$"}"#, "]}"),
        ]

    /// A bearer token with this payload.
    private static func bearer(_ payload: Shape) -> Shape {
        payload.inJWS(asHeader: false).wrapped(overhead: 8) { Array("Bearer ".utf8) + $0 }
    }
}
