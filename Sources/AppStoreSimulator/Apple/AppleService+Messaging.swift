import AppStoreAPI
import Foundation
import JSON

extension AppleService {
    /// The longest image that is read, in bytes: a full-size one that is not compressed fits.
    static let maximumImageBytes = 32 * 1_048_576

    /// The longest body that a call takes, in bytes.
    static func maximumBodyBytes(of route: AppleRoute) -> Int {
        if case .operation(.uploadImage, _) = route { maximumImageBytes } else { maximumBodyBytes }
    }

    /// Any call of the Retention Messaging API.
    func messaging(
        _ operation: Endpoint.Operation, _ parameters: [String], _ app: RegisteredApp, _ call: AppleCall
    ) throws(AppleServiceError) -> OutgoingResponse {
        switch operation {
        case .uploadImage: return try uploadImage(parameters[0], app, call)
        case .uploadMessage: return try uploadMessage(parameters[0], app, call)
        case .configureDefaultMessage: return try configureDefaultMessage(parameters, app, call)
        case .configureRealtimeURL: return try configureRealtimeURL(app, call)
        case .initiatePerformanceTest: return try initiatePerformanceTest(app, call)
        case .getPerformanceTestResults: return try performanceTestResults(parameters[0], app)
        case .deleteImage, .deleteMessage, .deleteDefaultMessage, .deleteRealtimeURL:
            try state.withContent { content throws(AppleServiceError) in
                try content.messaging.delete(operation, parameters, app.bundleID, environment)
            }
            return OutgoingResponse(status: 200)
        default:
            return try state.withContent { content throws(AppleServiceError) in
                try content.messaging.read(operation, parameters, app.bundleID, environment)
            }
        }
    }

    private func uploadImage(
        _ identifier: String, _ app: RegisteredApp, _ call: AppleCall
    ) throws(AppleServiceError) -> OutgoingResponse {
        guard let bytes = call.request.body else { throw .malformed(status: 413, "the image is too long") }
        guard call.request.contentType?.lowercased() == "image/png" else {
            throw .malformed(status: 415, "Content-Type is not image/png")
        }
        let size = try MessagingRules.imageSize(call.request.query)
        try MessagingRules.check(image: bytes, of: size)
        try state.withContent { content throws(AppleServiceError) in
            let settings = content.messaging.settings
            let image = MessagingCatalogue.Image(
                identifier: try MessagingRules.identifier(identifier, settings), size: size,
                state: content.messaging.firstState(in: environment))
            try content.messaging[app.bundleID, environment].upload(image, quota: settings.imageQuota)
        }
        return OutgoingResponse(status: 200)
    }

    private func uploadMessage(
        _ identifier: String, _ app: RegisteredApp, _ call: AppleCall
    ) throws(AppleServiceError) -> OutgoingResponse {
        let content = UploadMessageRequestBody(try members(of: call))
        try MessagingRules.check(content)
        try state.withContent { state throws(AppleServiceError) in
            let settings = state.messaging.settings
            let message = MessagingCatalogue.Message(
                identifier: try MessagingRules.identifier(identifier, settings), content: content,
                state: state.messaging.firstState(in: environment))
            try state.messaging[app.bundleID, environment].upload(message, quota: settings.messageQuota)
        }
        return OutgoingResponse(status: 200)
    }

    private func configureDefaultMessage(
        _ parameters: [String], _ app: RegisteredApp, _ call: AppleCall
    ) throws(AppleServiceError) -> OutgoingResponse {
        let place = try MessagingRules.place(parameters[0], parameters[1])
        guard let identifier = DefaultConfigurationRequest(try members(of: call)).messageIdentifier else {
            throw .error(.generalBadRequest, message: "messageIdentifier is missing")
        }
        try state.withContent { content throws(AppleServiceError) in
            let identifier = try MessagingRules.identifier(identifier, content.messaging.settings)
            try content.messaging[app.bundleID, environment].setDefault(identifier, at: place)
        }
        return OutgoingResponse(status: 200)
    }

    private func configureRealtimeURL(_ app: RegisteredApp, _ call: AppleCall) throws(AppleServiceError)
        -> OutgoingResponse
    {
        let text = RealtimeURLRequest(try members(of: call)).realtimeURL
        try state.withContent { content throws(AppleServiceError) in
            let url = try MessagingRules.realtimeURL(text, content.messaging.settings)
            guard environment == .sandbox || content.messaging.hasPassed(app.bundleID) else {
                throw .error(.forbiddenNoPassingTest)
            }
            content.messaging[app.bundleID, environment].setRealtimeURL(url)
        }
        return OutgoingResponse(status: 200)
    }

    private func initiatePerformanceTest(_ app: RegisteredApp, _ call: AppleCall) throws(AppleServiceError)
        -> OutgoingResponse
    {
        guard environment == .sandbox else {
            throw .error(.invalidPerformanceTestRequest, message: "Tests run in the sandbox only")
        }
        let identifier = PerformanceTestRequest(try members(of: call)).originalTransactionId
        let requestID = try state.withContent { content throws(AppleServiceError) in
            guard let record = identifier.flatMap({ content.world.records[$0] }),
                record.customer.bundleID == app.bundleID, record.environment == environment,
                record.payload.originalTransactionId == record.payload.transactionId
            else { throw .error(.invalidPerformanceTestRequest, message: "There is no such original transaction") }
            guard let target = content.messaging[app.bundleID, environment].realtimeURL else {
                throw .error(.invalidPerformanceTestRequest, message: "No realtime URL is configured")
            }
            let test = PerformanceTest(
                requestID: content.outbox.uuid(), app: app, target: target, transaction: record.payload)
            try content.messaging.begin(test)
            return test.requestID
        }
        state.agendaChanged()
        let response = PerformanceTestResponse {
            $0.config = PerformanceTest.config
            $0.requestId = requestID
        }
        return .json(200, response.serialized())
    }

    private func performanceTestResults(_ identifier: String, _ app: RegisteredApp) throws(AppleServiceError)
        -> OutgoingResponse
    {
        guard UUID(uuidString: identifier) != nil else { throw .error(.invalidRequestId) }
        let test = state.withContent { $0.messaging.test(identifier.lowercased(), of: app.bundleID) }
        guard let test else { throw .error(.performanceTestRunNotFound) }
        return .json(200, test.response.serialized())
    }
}

extension RetentionMessaging {
    /// The calls that delete something.
    fileprivate mutating func delete(
        _ operation: Endpoint.Operation, _ parameters: [String], _ bundleID: String,
        _ environment: SimulatedEnvironment
    ) throws(AppleServiceError) {
        switch operation {
        case .deleteImage:
            try self[bundleID, environment].deleteImage(MessagingRules.identifier(parameters[0], settings))
        case .deleteMessage:
            try self[bundleID, environment].deleteMessage(MessagingRules.identifier(parameters[0], settings))
        case .deleteDefaultMessage:
            try self[bundleID, environment].deleteDefault(at: MessagingRules.place(parameters[0], parameters[1]))
        default:
            try self[bundleID, environment].deleteRealtimeURL()
        }
    }

    /// The calls that only read.
    fileprivate func read(
        _ operation: Endpoint.Operation, _ parameters: [String], _ bundleID: String,
        _ environment: SimulatedEnvironment
    ) throws(AppleServiceError) -> OutgoingResponse {
        let catalogue = self[bundleID, environment]
        switch operation {
        case .getImageList:
            let items = catalogue.images.map { image in
                GetImageListResponseItem {
                    $0.imageIdentifier = image.identifier
                    $0.imageState = ImageState(rawValue: image.state.rawValue)
                    $0.imageSize = image.size
                }
            }
            return .json(200, GetImageListResponse { $0.imageIdentifiers = items }.serialized())
        case .getMessageList:
            let items = catalogue.messages.map { message in
                GetMessageListResponseItem {
                    $0.messageIdentifier = message.identifier
                    $0.messageState = MessageState(rawValue: message.state.rawValue)
                }
            }
            return .json(200, GetMessageListResponse { $0.messageIdentifiers = items }.serialized())
        case .getDefaultMessage:
            let identifier = try catalogue.defaultMessage(at: MessagingRules.place(parameters[0], parameters[1]))
            return .json(200, DefaultConfigurationResponse { $0.messageIdentifier = identifier }.serialized())
        case .getRealtimeURL:
            let url = try catalogue.configuredRealtimeURL()
            return .json(200, RealtimeURLResponse { $0.realtimeURL = url }.serialized())
        default:
            throw .malformed(status: 404, "not a call of this API")
        }
    }
}
