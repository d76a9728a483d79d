import AppStoreAPI

/// What one app has set up for Retention Messaging in one environment.
///
/// No clock, no sockets. Identifiers are UUIDs in lower case.
struct MessagingCatalogue: Sendable {
    struct Image: Sendable {
        let identifier: String
        let size: ImageSize
        var state: ReviewState
    }

    struct Message: Sendable {
        let identifier: String
        let content: UploadMessageRequestBody
        var state: ReviewState

        /// The images that it shows.
        var imageIdentifiers: [String] {
            ([content.image?.imageIdentifier] + (content.bulletPoints ?? []).map(\.imageIdentifier))
                .compactMap { $0?.lowercased() }
        }
    }

    struct Place: Sendable, Hashable {
        let productID: String
        let locale: String
    }

    /// In the order of their uploads.
    private(set) var images: [Image] = []
    /// In the order of their uploads.
    private(set) var messages: [Message] = []
    /// The identifier of the message by where it is shown.
    private(set) var defaults: [Place: String] = [:]
    private(set) var realtimeURL: String?

    // MARK: Images

    mutating func upload(_ image: Image, quota: Int) throws(AppleServiceError) {
        guard self.image(image.identifier) == nil else { throw .error(.imageAlreadyExists) }
        guard images.count < quota else { throw .error(.maximumNumberOfImagesReached) }
        images.append(image)
    }

    mutating func deleteImage(_ identifier: String) throws(AppleServiceError) {
        guard image(identifier) != nil else { throw .error(.imageNotFound) }
        guard !messages.contains(where: { $0.imageIdentifiers.contains(identifier) }) else {
            throw .error(.imageInUse)
        }
        images.removeAll { $0.identifier == identifier }
    }

    func image(_ identifier: String) -> Image? { images.first { $0.identifier == identifier } }

    /// Sets what the review has come to; false if there is no such image.
    mutating func review(image identifier: String, _ state: ReviewState) -> Bool {
        guard let index = images.firstIndex(where: { $0.identifier == identifier }) else { return false }
        images[index].state = state
        return true
    }

    // MARK: Messages

    /// Takes a message whose texts have been checked.
    mutating func upload(_ message: Message, quota: Int) throws(AppleServiceError) {
        if let image = message.content.image?.imageIdentifier { try check(image, is: .fullSize) }
        for point in message.content.bulletPoints ?? [] {
            if let image = point.imageIdentifier { try check(image, is: .bulletPoint) }
        }
        guard self.message(message.identifier) == nil else { throw .error(.messageAlreadyExists) }
        guard messages.count < quota else { throw .error(.maximumNumberOfMessagesReached) }
        messages.append(message)
    }

    private func check(_ image: String, is size: ImageSize) throws(AppleServiceError) {
        guard let image = self.image(image.lowercased()) else { throw .error(.imageNotFound) }
        guard image.size == size else {
            throw .error(.badRequestImageSize, message: "The image is \(image.size.rawValue)")
        }
    }

    /// Deletes a message, which thereby is no longer a default either.
    mutating func deleteMessage(_ identifier: String) throws(AppleServiceError) {
        guard message(identifier) != nil else { throw .error(.messageNotFound) }
        messages.removeAll { $0.identifier == identifier }
        defaults = defaults.filter { $0.value != identifier }
    }

    func message(_ identifier: String) -> Message? { messages.first { $0.identifier == identifier } }

    /// Sets what the review has come to; false if there is no such message.
    mutating func review(message identifier: String, _ state: ReviewState) -> Bool {
        guard let index = messages.firstIndex(where: { $0.identifier == identifier }) else { return false }
        messages[index].state = state
        return true
    }

    // MARK: Defaults

    mutating func setDefault(_ identifier: String, at place: Place) throws(AppleServiceError) {
        guard let message = message(identifier) else { throw .error(.messageNotFound) }
        guard message.state == .approved else { throw .error(.messageNotApproved) }
        guard message.imageIdentifiers.allSatisfy({ image($0)?.state == .approved }) else {
            throw .error(.imageNotApproved)
        }
        defaults[place] = identifier
    }

    func defaultMessage(at place: Place) throws(AppleServiceError) -> String {
        guard let identifier = defaults[place] else { throw .error(.defaultMessageNotFound) }
        return identifier
    }

    mutating func deleteDefault(at place: Place) throws(AppleServiceError) {
        guard defaults.removeValue(forKey: place) != nil else { throw .error(.defaultMessageNotFound) }
    }

    // MARK: Realtime URL

    mutating func setRealtimeURL(_ url: String) { realtimeURL = url }

    func configuredRealtimeURL() throws(AppleServiceError) -> String {
        guard let realtimeURL else { throw .error(.realtimeURLNotFound) }
        return realtimeURL
    }

    mutating func deleteRealtimeURL() throws(AppleServiceError) {
        _ = try configuredRealtimeURL()
        realtimeURL = nil
    }
}

/// How Apple's review of an image or a message stands.
package enum ReviewState: String, Sendable, Hashable, CaseIterable {
    case pending = "PENDING"
    case approved = "APPROVED"
    case rejected = "REJECTED"
}
