import CCurl
import Glibc

/// One request on its way: who waits for it, its easy handle while it is under way, and what has come of it.
///
/// Used on the thread of ``MultiLoop`` only.
final class Transfer {
    typealias Completion = CheckedContinuation<Result<CurlResponse, CurlError>, Never>

    let id: TransferID
    let request: CurlRequest
    let submitted: ContinuousClock.Instant
    let deadline: ContinuousClock.Instant
    /// The handle, from the moment when the transfer is under way.
    var easy: EasyHandle?
    private let completion: Completion
    private var collector: ResponseCollector
    private let configuration: CurlConfiguration
    /// Whether a connection was ready, so that curl went on to the request.
    private(set) var requestMayHaveBeenSent = false
    /// Whether curl went on to it for the second time.
    private var wasSentBefore = false
    /// Whether an address of the server was not admitted.
    private var isAddressRefused = false
    /// What was over when a connection was ready: the time of the whole, or the moment at which it had to begin.
    private var lateness: CurlError.Kind?

    init(_ submission: Submission, _ configuration: CurlConfiguration) {
        id = submission.id
        request = submission.request
        submitted = submission.submitted
        let end = submission.submitted + submission.request.totalTimeout
        deadline = submission.request.latestEnd.map { min($0, end) } ?? end
        completion = submission.completion
        self.configuration = configuration
        collector = Self.collector(submission.request, configuration)
    }

    private static func collector(_ request: CurlRequest, _ configuration: CurlConfiguration) -> ResponseCollector {
        ResponseCollector(
            maximumHeaderBytes: configuration.maximumHeaderBytes, maximumBodyBytes: request.maximumResponseBytes)
    }

    /// Gives the caller the result.
    ///
    /// Called once, when the transfer leaves the loop.
    func complete(_ result: Result<CurlResponse, CurlError>) { completion.resume(returning: result) }

    // MARK: With curl

    /// Sets the handle up for this transfer.
    ///
    /// curl gets our address unretained: the loop holds the transfer for as long as the handle is in the multi handle,
    /// and whoever uses the handle next sets an address of its own.
    func prepare(_ easy: EasyHandle) throws(CurlError) {
        if try easy.prepare(request, configuration) { try Self.setCallbacks(easy) }
        let address = Unmanaged.passUnretained(self).toOpaque()
        for option in [CURLOPT_PRIVATE, CURLOPT_PREREQDATA, CURLOPT_HEADERDATA, CURLOPT_WRITEDATA] {
            try easy.set(option, address)
        }
        guard configuration.admitsAddress != nil else { return }
        try easy.set(CURLOPT_OPENSOCKETDATA, address)
        try easy.setOpenSocket { address, _, target in
            target.flatMap { target in Transfer.at(address)?.openSocket(to: target) } ?? -1
        }
    }

    /// Opens the socket for an address, or none where that is not admitted.
    ///
    /// Source: https://curl.se/libcurl/c/CURLOPT_OPENSOCKETFUNCTION.html
    private func openSocket(to target: UnsafeMutablePointer<curl_sockaddr>) -> CInt {
        let address = SocketAddress.bytes(of: target)
        guard let address, configuration.admitsAddress?(address) == true else {
            isAddressRefused = true
            return -1
        }
        let (family, type) = (target.pointee.family, target.pointee.socktype)
        return socket(family, type | CInt(SOCK_CLOEXEC.rawValue), target.pointee.protocol)
    }

    /// Sets what curl calls with the address of a transfer.
    private static func setCallbacks(_ easy: EasyHandle) throws(CurlError) {
        try easy.setPrerequest { address, _, _, _, _ in
            guard Transfer.at(address)?.beginAttempt() ?? true else { return CURL_PREREQFUNC_ABORT }
            return CURL_PREREQFUNC_OK
        }
        try easy.set(CURLOPT_HEADERFUNCTION) { bytes, size, count, address in
            Transfer.at(address)?.collect(bytes, size * count) { $0.receiveHeader($1) } ?? 0
        }
        try easy.set(CURLOPT_WRITEFUNCTION) { bytes, size, count, address in
            Transfer.at(address)?.collect(bytes, size * count) { $0.receiveBody($1) } ?? 0
        }
    }

    /// The transfer whose handle this is, among those in the multi handle.
    static func of(_ easy: UnsafeMutableRawPointer) -> Transfer? {
        var address: UnsafeMutableRawPointer?
        guard ccurl_easy_getinfo_pointer(easy, CURLINFO_PRIVATE, &address) == CURLE_OK else { return nil }
        return at(address)
    }

    private static func at(_ address: UnsafeMutableRawPointer?) -> Transfer? {
        address.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// A connection is ready and the request goes out next; for the second time, if curl found a kept connection dead
    /// or its stream refused.
    ///
    /// A process that was stopped may come here long after its last look at the time.
    ///
    /// - Returns: whether there is time for it.
    private func beginAttempt() -> Bool {
        let now = ContinuousClock.now
        if now >= deadline {
            lateness = .timeout
        } else if let latest = request.latestStart, now >= latest {
            lateness = .tooLate
        }
        guard lateness == nil else { return false }
        wasSentBefore = requestMayHaveBeenSent
        requestMayHaveBeenSent = true
        collector = Self.collector(request, configuration)
        return true
    }

    /// Hands bytes on and answers as curl wants it: their number, or another number to end the transfer.
    private func collect(
        _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int,
        _ receive: (inout ResponseCollector, UnsafeBufferPointer<UInt8>) -> Bool
    ) -> Int {
        let buffer = UnsafeRawBufferPointer(start: bytes, count: count).assumingMemoryBound(to: UInt8.self)
        return receive(&collector, buffer) ? count : count + 1
    }

    /// What a transfer that ended with this code, on this handle, comes to.
    func result(_ code: CURLcode, on easy: EasyHandle) -> Result<CurlResponse, CurlError> {
        if code == CURLE_COULDNT_CONNECT, isAddressRefused {
            return .failure(
                CurlError(
                    code, during: "transfer", detail: "an address of the server is not admitted", kind: .addressRefused)
            )
        }
        if code != CURLE_OK, let lateness {
            return .failure(
                CurlError(
                    CURLE_OPERATION_TIMEDOUT, during: "transfer", detail: "no connection before it was too late",
                    kind: lateness, requestMayHaveBeenSent: requestMayHaveBeenSent))
        }
        guard code == CURLE_OK else {
            return .failure(
                CurlError(
                    code, during: "transfer", detail: collector.excess ?? easy.errorDetail,
                    kind: collector.excess == nil ? nil : .responseTooLarge,
                    requestMayHaveBeenSent: requestMayHaveBeenSent))
        }
        return Result { () throws(CurlError) in
            CurlResponse(
                status: try easy.long(CURLINFO_RESPONSE_CODE), httpVersion: .init(try easy.long(CURLINFO_HTTP_VERSION)),
                headers: collector.headers, body: collector.body, total: try easy.duration(CURLINFO_TOTAL_TIME_T),
                connect: try easy.duration(CURLINFO_CONNECT_TIME_T),
                connectionWasReused: try easy.long(CURLINFO_NUM_CONNECTS) == 0, wasSentBefore: wasSentBefore)
        }
    }
}

extension CurlResponse.HTTPVersion {
    /// Reads curl's number (`CURLINFO_HTTP_VERSION`).
    init(_ number: Int) {
        switch number {
        case Int(CURL_HTTP_VERSION_1_0), Int(CURL_HTTP_VERSION_1_1): self = .http1
        case Int(CURL_HTTP_VERSION_2_0): self = .http2
        default: self = .other
        }
    }
}

/// Addresses in the form of the system's sockets.
enum SocketAddress {
    /// The 4 bytes of an IPv4 address, the 16 of an IPv6 address; nil of any other kind.
    ///
    /// curl gives more bytes than its structure declares: as many as the address takes.
    static func bytes(of target: UnsafeMutablePointer<curl_sockaddr>) -> [UInt8]? {
        guard let start = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return nil }
        let address = UnsafeRawPointer(target) + start
        let length = Int(target.pointee.addrlen)
        switch target.pointee.family {
        case AF_INET where length >= MemoryLayout<sockaddr_in>.size:
            return withUnsafeBytes(of: address.loadUnaligned(as: sockaddr_in.self).sin_addr, Array.init)
        case AF_INET6 where length >= MemoryLayout<sockaddr_in6>.size:
            return withUnsafeBytes(of: address.loadUnaligned(as: sockaddr_in6.self).sin6_addr, Array.init)
        default: return nil
        }
    }
}
