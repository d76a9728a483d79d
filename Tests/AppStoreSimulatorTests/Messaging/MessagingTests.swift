import AppStoreAPI
import AppStoreSimulator
import Curl
import Foundation
import JSON
import Testing

/// Images, messages and default messages of the Retention Messaging API.
struct MessagingTests {
    private typealias Fixture = SimulatorFixture
    private static let text: [(String, JSONValue)] = [("header", "Wait"), ("body", "There is more to come")]

    private func body(_ more: (String, JSONValue)...) -> JSONValue { .object(JSONObject(Self.text + more)) }

    private func image(_ identifier: String = Fixture.image, altText: String = "A picture") -> JSONValue {
        ["imageIdentifier": .string(identifier), "altText": .string(altText)]
    }

    private func point(text: String = "Ad-free", altText: String = "A tick", _ image: String = Fixture.bullet)
        -> JSONValue
    {
        ["text": .string(text), "imageIdentifier": .string(image), "altText": .string(altText)]
    }

    @Test func `images are uploaded once, listed and deleted`() async throws {
        try await Fixture.with { fixture in
            let icon = PNGFile.bytes(width: 64, height: 64)
            try fixture.expect(nil, await fixture.uploadImage())
            try fixture.expect(nil, await fixture.uploadImage(Fixture.bullet, size: "BULLET_POINT", bytes: icon))
            try fixture.expect(.imageAlreadyExists, await fixture.uploadImage(Fixture.image.uppercased()))
            let list = try await fixture.answer(GetImageListResponse.self, Endpoint(.getImageList))
            #expect(list.imageIdentifiers?.map(\.imageIdentifier) == [Fixture.image, Fixture.bullet])
            #expect(list.imageIdentifiers?.map(\.imageSize) == [.fullSize, .bulletPoint])
            #expect(list.imageIdentifiers?.map(\.imageState) == [.approved, .approved])
            try fixture.expect(nil, await fixture.messaging(.deleteImage, [Fixture.image]))
            try fixture.expect(.imageNotFound, await fixture.messaging(.deleteImage, [Fixture.image]))
            let production = try await fixture.answer(
                GetImageListResponse.self, Endpoint(.getImageList), in: .production)
            #expect(production.imageIdentifiers == [])
        }
    }

    @Test func `a full-size image that is not compressed is taken`() async throws {
        try await Fixture.with { fixture in
            let pixels = [UInt8](repeating: 0x55, count: 3840 * 2160 * 3)
            let bytes = PNGFile.bytes(extra: [("IDAT", pixels)])
            try fixture.expect(nil, await fixture.uploadImage(bytes: bytes))
        }
    }

    @Test func `images that Apple would not take are refused`() async throws {
        try await Fixture.with { fixture in
            let bad = [
                PNGFile.bytes(width: 3839), PNGFile.bytes(height: 159), PNGFile.bytes(height: 2161),
                PNGFile.bytes(colourType: 6), PNGFile.bytes(extra: [("tRNS", [0])]), Array("no".utf8),
            ]
            for bytes in bad { try fixture.expect(.invalidImage, await fixture.uploadImage(bytes: bytes)) }
            for height: UInt32 in [160, 2160] {
                let identifier = UUID().uuidString
                try fixture.expect(nil, await fixture.uploadImage(identifier, bytes: PNGFile.bytes(height: height)))
            }
            try fixture.expect(.badRequestImageSize, await fixture.uploadImage(size: "HUGE"))
            try fixture.expect(.generalBadRequest, await fixture.uploadImage("picture"))
            let text = try await fixture.uploadImage(contentType: "image/jpeg")
            #expect(text.status == 415)
        }
    }

    @Test func `quotas end uploads`() async throws {
        try await Fixture.with { fixture in
            let settings = try await fixture.control(
                "PUT", "/messaging-settings", ["imageQuota": 1, "messageQuota": 1])
            #expect(settings.status == 204)
            try fixture.expect(nil, await fixture.uploadImage())
            try fixture.expect(.maximumNumberOfImagesReached, await fixture.uploadImage(Fixture.bullet))
            try fixture.expect(nil, await fixture.messaging(.uploadMessage, [Fixture.message], body: body()))
            try fixture.expect(
                .maximumNumberOfMessagesReached,
                await fixture.messaging(.uploadMessage, [Fixture.image], body: body()))
        }
    }

    @Test func `identifiers in capitals can be refused`() async throws {
        try await Fixture.with { fixture in
            var settings = MessagingSettings()
            settings.requiresLowercaseIdentifiers = true
            fixture.state.messagingSettings = settings
            try fixture.expect(.generalBadRequest, await fixture.uploadImage(Fixture.image.uppercased()))
            try fixture.expect(nil, await fixture.uploadImage())
        }
    }

    @Test func `messages are uploaded once, listed and deleted`() async throws {
        try await Fixture.with { fixture in
            try fixture.expect(nil, await fixture.uploadImage())
            try fixture.expect(nil, await fixture.uploadImage(Fixture.bullet, size: "BULLET_POINT"))
            let whole = body(
                ("image", image()), ("headerPosition", "ABOVE_IMAGE"),
                ("bulletPoints", .array([point(), point(), point(), point(), point()])))
            try fixture.expect(nil, await fixture.messaging(.uploadMessage, [Fixture.message], body: whole))
            try fixture.expect(
                .messageAlreadyExists, await fixture.messaging(.uploadMessage, [Fixture.message], body: whole))
            let list = try await fixture.answer(GetMessageListResponse.self, Endpoint(.getMessageList))
            #expect(list.messageIdentifiers?.map(\.messageIdentifier) == [Fixture.message])
            #expect(list.messageIdentifiers?.map(\.messageState) == [.approved])
            try fixture.expect(.imageInUse, await fixture.messaging(.deleteImage, [Fixture.image]))
            try fixture.expect(.imageInUse, await fixture.messaging(.deleteImage, [Fixture.bullet]))
            try fixture.expect(nil, await fixture.messaging(.deleteMessage, [Fixture.message]))
            try fixture.expect(.messageNotFound, await fixture.messaging(.deleteMessage, [Fixture.message]))
            try fixture.expect(nil, await fixture.messaging(.deleteImage, [Fixture.image]))
        }
    }

    @Test func `each rule of a message has its error`() async throws {
        try await Fixture.with { fixture in
            try fixture.expect(nil, await fixture.uploadImage())
            try fixture.expect(nil, await fixture.uploadImage(Fixture.bullet, size: "BULLET_POINT"))
            func long(_ count: Int) -> String { String(repeating: "é", count: count) }
            let cases: [(JSONValue, APIErrorCode?)] = [
                (["header": "Wait"], .generalBadRequest), (["body": "More"], .generalBadRequest),
                (["header": .string(long(67)), "body": "More"], .headerTooLong),
                (["header": "Wait", "body": .string(long(145))], .bodyTooLong),
                (["header": .string(long(66)), "body": .string(long(144))], nil),
                (body(("headerPosition", "BELOW")), .generalBadRequest),
                (body(("headerPosition", "ABOVE_IMAGE")), .badRequestAboveImageRequiresAnImage),
                (body(("image", image(altText: long(151)))), .altTextTooLong),
                (body(("image", ["altText": "A"])), .generalBadRequest),
                (body(("image", image(Fixture.message))), .imageNotFound),
                (body(("image", image(Fixture.bullet))), .badRequestImageSize),
                (body(("bulletPoints", .array(Array(repeating: point(), count: 6)))), .badRequestTooManyBulletPoints),
                (body(("bulletPoints", .array([point(text: long(67))]))), .badRequestBulletPointTextTooLong),
                (body(("bulletPoints", .array([point(altText: long(151))]))), .altTextTooLong),
                (body(("bulletPoints", .array([point(Fixture.image)]))), .badRequestImageSize),
                (body(("bulletPoints", .array([point(Fixture.message)]))), .imageNotFound),
            ]
            for (body, error) in cases {
                let response = try await fixture.messaging(.uploadMessage, [UUID().uuidString], body: body)
                try fixture.expect(error, response)
            }
            try fixture.expect(.generalBadRequest, await fixture.messaging(.uploadMessage, ["hello"], body: body()))
        }
    }

    @Test func `default messages need approval and can be read and deleted`() async throws {
        try await Fixture.with { fixture in
            let place = ["gold", "en-US"]
            let request: JSONValue = ["messageIdentifier": .string(Fixture.message)]
            func configure() async throws -> CurlResponse {
                try await fixture.messaging(.configureDefaultMessage, place, in: .production, body: request)
            }
            func review(_ kind: String, _ identifier: String, _ state: String) async throws {
                let path = "/apps/\(Fixture.bundleID)/\(kind)/\(identifier)/review"
                let answer = try await fixture.control(
                    "PUT", path, ["environment": "Production", "state": .string(state)])
                #expect(answer.status == 204)
            }
            try fixture.expect(.messageNotFound, await configure())
            try fixture.expect(nil, await fixture.uploadImage(in: .production))
            try fixture.expect(
                nil,
                await fixture.messaging(
                    .uploadMessage, [Fixture.message], in: .production, body: body(("image", image()))))
            try fixture.expect(.messageNotApproved, await configure())
            try await review("messages", Fixture.message, "APPROVED")
            try fixture.expect(.imageNotApproved, await configure())
            try await review("images", Fixture.image, "APPROVED")
            try fixture.expect(
                .defaultMessageNotFound, await fixture.messaging(.getDefaultMessage, place, in: .production))
            try fixture.expect(nil, await configure())
            let answer = try await fixture.answer(
                DefaultConfigurationResponse.self, Endpoint(.getDefaultMessage, place), in: .production)
            #expect(answer.messageIdentifier == Fixture.message)
            try fixture.expect(nil, await fixture.messaging(.deleteDefaultMessage, place, in: .production))
            try fixture.expect(
                .defaultMessageNotFound, await fixture.messaging(.deleteDefaultMessage, place, in: .production))
            try await review("messages", Fixture.message, "REJECTED")
            try fixture.expect(.messageNotApproved, await configure())
            for locale in ["english", "EN", "en_US", "en-"] {
                try fixture.expect(
                    .invalidLocale, await fixture.messaging(.configureDefaultMessage, ["gold", locale], body: request))
            }
            try fixture.expect(
                .generalBadRequest, await fixture.messaging(.configureDefaultMessage, place, body: [:]))
        }
    }

    @Test func `the control port shows what is set up and refuses nonsense`() async throws {
        try await Fixture.with { fixture in
            let path = "/apps/\(Fixture.bundleID)"
            try fixture.expect(nil, await fixture.uploadImage())
            try fixture.expect(nil, await fixture.messaging(.uploadMessage, [Fixture.message], body: body()))
            let place = ["gold", "en-US"]
            try fixture.expect(
                nil,
                await fixture.messaging(
                    .configureDefaultMessage, place, body: ["messageIdentifier": .string(Fixture.message)]))
            let shown = try await fixture.control("GET", path + "/retention-messaging")
            let sandbox = try JSONValue(parsing: shown.body)["sandbox"]
            #expect(sandbox?["images"]?[0]?["imageIdentifier"]?.string == Fixture.image)
            #expect(sandbox?["messages"]?[0]?["header"]?.string == "Wait")
            #expect(sandbox?["defaults"]?[0]?["locale"]?.string == "en-US")
            let cases: [(String, String, JSONValue, Int)] = [
                (
                    "PUT", path + "/images/\(Fixture.bullet)/review", ["environment": "Sandbox", "state": "APPROVED"],
                    404
                ),
                (
                    "PUT", path + "/messages/\(Fixture.bullet)/review",
                    ["environment": "Sandbox", "state": "APPROVED"], 404
                ),
                ("PUT", path + "/images/\(Fixture.image)/review", ["environment": "Sandbox", "state": "GOOD"], 400),
                ("PUT", path + "/images/\(Fixture.image)/review", ["state": "APPROVED"], 400),
                ("PUT", "/messaging-settings", ["automaticApproval": ["Moon"]], 400),
                ("PUT", "/messaging-settings", ["certificateAuthorities": "none"], 400),
                ("GET", "/apps/com.example.other/retention-messaging", [:], 404),
            ]
            for (method, path, body, status) in cases {
                let answer = try await fixture.control(method, path, body)
                #expect(answer.status == status, "\(method) \(path)")
            }
            let settings = try await fixture.control("GET", "/messaging-settings")
            #expect(try JSONValue(parsing: settings.body)["imageQuota"]?.int64 == 2000)
        }
    }
}
