package import JSON

/// The answer to a realtime request: one of the four.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/realtimeresponsebody
package struct RealtimeResponseBody: WireModel {
    package var message: RetentionMessage?
    package var alternateProduct: AlternateProduct?
    package var promotionalOffer: PromotionalOffer?
    package var advancedCommerceInfo: AdvancedCommerceInfo?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<RealtimeResponseBody>] = [
        .init("message", \.message),
        .init("alternateProduct", \.alternateProduct),
        .init("promotionalOffer", \.promotionalOffer),
        .init("advancedCommerceInfo", \.advancedCommerceInfo),
    ]
}
