// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.source.http;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.smqtt.log.LogLimiter;
import io.smqtt.rules.sink.SinkSettings;
import io.smqtt.rules.sink.SourceContext;
import io.smqtt.rules.sink.SourceOutput;
import io.smqtt.thread.AnyThread;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import reactor.core.publisher.Mono;
import reactor.netty.channel.AbortedException;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;

/**
 * The requests of one run. A request is answered with 204 when the broker has its message. At most as many requests have a place as messages may be in
 * flight; more are answered with 503. A request has its place before its body is read, but one that is known by its signature alone not until this was
 * checked: until then it is limited by the number of connections and the bytes of all bodies.
 */
@AnyThread
final class HttpRequests {

    private static final Logger LOG = LoggerFactory.getLogger(HttpRequests.class);
    private static final LogLimiter LINES = new LogLimiter(LOG, Level.WARN, 1);
    private static final List<String> HIDDEN =
            List.of("authorization", "cookie", "proxy-authorization", SignatureCheck.SIGNATURE);
    private static final String BEARER = "Bearer ";
    private static final Map<HttpResponseStatus, String> REASONS = Map.of(
            HttpResponseStatus.BAD_REQUEST, "a request whose query cannot be read",
            HttpResponseStatus.UNAUTHORIZED, "a request without the right token or signature",
            HttpResponseStatus.FORBIDDEN, "a request of a web page without a token",
            HttpResponseStatus.NOT_FOUND, "a request for another path",
            HttpResponseStatus.METHOD_NOT_ALLOWED, "a request that is no POST",
            HttpResponseStatus.REQUEST_TIMEOUT, "a request whose body does not arrive in time",
            HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE, "a request whose body is larger than max-body",
            HttpResponseStatus.SERVICE_UNAVAILABLE,
                    "a request beyond inflight or max-memory, or while the broker is full");

    private final String source;
    private final String path;
    private final byte @Nullable [] token;
    private final @Nullable SignatureCheck signature;
    private final long mostBytes;
    private final Duration timeout;
    private final SourceOutput out;
    private final RequestRoom room;
    private volatile boolean ended;

    /**
     * Creates them.
     *
     * @param token what each request must have, or null
     * @param signature checks each request, or null
     */
    HttpRequests(SourceContext context, @Nullable String token, @Nullable SignatureCheck signature, SourceOutput out) {
        SinkSettings settings = context.settings();
        this.source = context.name();
        this.path = settings.text(HttpSourceFactory.PATH);
        this.token = token == null ? null : token.getBytes(StandardCharsets.UTF_8);
        this.signature = signature;
        this.mostBytes = settings.bytes(HttpSourceFactory.MAX_BODY);
        this.timeout = settings.duration(HttpSourceFactory.TIMEOUT);
        this.out = out;
        this.room = new RequestRoom(context.config().inflight(), settings.bytes(HttpSourceFactory.MAX_MEMORY));
    }

    /** The requests whose messages the broker does not have yet. */
    int open() {
        return room.requests();
    }

    /** Takes no further request. */
    void end() {
        ended = true;
    }

    Mono<Void> handle(HttpServerRequest request, HttpServerResponse response) {
        HttpResponseStatus refusal = refusal(request);
        if (refusal == null && (ended || out.isPaused())) {
            refusal = HttpResponseStatus.SERVICE_UNAVAILABLE;
        }
        if (refusal != null) {
            return refuse(response, refusal);
        }
        RequestBody body = new RequestBody(room, mostBytes, announced(request));
        if (!isKnownByBody() && !body.enter()) {
            return refuse(response, HttpResponseStatus.SERVICE_UNAVAILABLE);
        }
        return request.receive()
                .asByteArray()
                .reduceWith(() -> body, RequestBody::add)
                .timeout(timeout)
                .flatMap(whole -> publish(request, whole))
                .onErrorResume(error -> Mono.just(status(error)))
                .flatMap(status -> answer(response, status))
                .doFinally(signal -> body.release());
    }

    private Mono<Void> refuse(HttpServerResponse response, HttpResponseStatus status) {
        reject(status);
        return answer(response, status);
    }

    /** Whether a forged request is like any other until its body has arrived. */
    private boolean isKnownByBody() {
        return signature != null && token == null;
    }

    private void reject(HttpResponseStatus status) {
        out.rejected(REASONS.getOrDefault(status, status.reasonPhrase()));
    }

    private Mono<HttpResponseStatus> publish(HttpServerRequest request, RequestBody body) {
        byte[] bytes = body.take();
        if (signature != null && !signature.isValid(request.requestHeaders(), bytes)) {
            throw new RejectedRequestException(HttpResponseStatus.UNAUTHORIZED);
        }
        if (isKnownByBody() && !body.enter()) {
            throw new RejectedRequestException(HttpResponseStatus.SERVICE_UNAVAILABLE);
        }
        Map<String, @Nullable Object> columns = columns(request, bytes);
        body.hold(); // also after the connection has ended
        return Mono.fromFuture(
                        out.publish(columns).doFinally(signal -> body.release()).toFuture(), true)
                .map(taken -> taken ? HttpResponseStatus.NO_CONTENT : HttpResponseStatus.BAD_REQUEST)
                .onErrorReturn(HttpResponseStatus.SERVICE_UNAVAILABLE); // which the source has logged
    }

    private boolean isServed(String uri) {
        boolean begins = uri.startsWith(path);
        return begins
                && (path.endsWith("/")
                        || uri.length() == path.length()
                        || "/?".indexOf(uri.charAt(path.length())) >= 0);
    }

    private @Nullable HttpResponseStatus refusal(HttpServerRequest request) {
        if (!isServed(request.uri())) {
            return HttpResponseStatus.NOT_FOUND;
        }
        if (token != null && !isToken(request.requestHeaders().get(HttpHeaderNames.AUTHORIZATION), token)) {
            return HttpResponseStatus.UNAUTHORIZED;
        }
        if (signature != null && !signature.isPossible(request.requestHeaders())) {
            return HttpResponseStatus.UNAUTHORIZED; // without a place for its body
        }
        if (token == null && request.requestHeaders().contains(HttpHeaderNames.ORIGIN)) {
            return HttpResponseStatus.FORBIDDEN; // any page in a browser on this machine may send it
        }
        if (!request.method().equals(HttpMethod.POST)) {
            return HttpResponseStatus.METHOD_NOT_ALLOWED;
        }
        return announced(request) > mostBytes ? HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE : null;
    }

    /** The size of the body as its sender says; 0 without. */
    private static long announced(HttpServerRequest request) {
        String length =
                request.requestHeaders().get(HttpHeaderNames.CONTENT_LENGTH); // a number, or Netty refuses the request
        if (length == null) {
            return 0;
        }
        return length.length() > 18 ? Long.MAX_VALUE : Long.parseLong(length);
    }

    private static boolean isToken(@Nullable String given, byte[] expected) {
        return given != null
                && given.startsWith(BEARER)
                && MessageDigest.isEqual(given.substring(BEARER.length()).getBytes(StandardCharsets.UTF_8), expected);
    }

    private HttpResponseStatus status(Throwable error) {
        HttpResponseStatus rejected = null;
        if (error instanceof RejectedRequestException rejection) {
            rejected = rejection.status();
        } else if (error instanceof TimeoutException) {
            rejected = HttpResponseStatus.REQUEST_TIMEOUT;
        } else if (error instanceof IllegalArgumentException) {
            rejected = HttpResponseStatus.BAD_REQUEST;
        }
        if (rejected != null) {
            reject(rejected);
            return rejected;
        }
        if (error instanceof IOException || error instanceof AbortedException) {
            LOG.debug("source {}: a connection has ended before the body of its request", source, error);
        } else {
            out.rejected("a request that could not be handled");
            if (LINES.allows(source)) {
                LOG.warn("source {}: a request could not be handled", source, error);
            }
        }
        return HttpResponseStatus.SERVICE_UNAVAILABLE;
    }

    private static Mono<Void> answer(HttpServerResponse response, HttpResponseStatus status) {
        response.status(status);
        if (status.equals(HttpResponseStatus.METHOD_NOT_ALLOWED)) {
            response.header(HttpHeaderNames.ALLOW, "POST");
        } else if (status.equals(HttpResponseStatus.UNAUTHORIZED)) {
            response.header(HttpHeaderNames.WWW_AUTHENTICATE, "Bearer");
        } else if (status.equals(HttpResponseStatus.SERVICE_UNAVAILABLE)) {
            response.header(HttpHeaderNames.RETRY_AFTER, "1");
        }
        boolean unread = status.code() >= 400; // the rest of a body is not waited for
        return response.keepAlive(!unread).send();
    }

    private Map<String, @Nullable Object> columns(HttpServerRequest request, byte[] body) {
        QueryStringDecoder uri = new QueryStringDecoder(request.uri());
        Map<String, Object> query = new HashMap<>();
        uri.parameters().forEach((name, values) -> query.put(name, values.get(0)));
        Map<String, Object> headers = new HashMap<>();
        HttpHeaders given = request.requestHeaders();
        for (String name : given.names()) {
            String key = name.toLowerCase(Locale.ROOT);
            String value = given.get(name);
            if (!HIDDEN.contains(key) && value != null) {
                headers.put(key, value);
            }
        }
        Map<String, @Nullable Object> columns = new HashMap<>();
        columns.put(SourceOutput.PAYLOAD, textOrBytes(body));
        String rest = uri.path().substring(Math.min(path.length(), uri.path().length()));
        columns.put("path", rest.startsWith("/") ? rest.substring(1) : rest);
        columns.put("query", query);
        columns.put("headers", headers);
        InetSocketAddress peer = request.remoteAddress();
        columns.put("peerhost", peer == null ? null : peer.getAddress().getHostAddress());
        return columns;
    }

    private static Object textOrBytes(byte[] body) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(body))
                    .toString();
        } catch (CharacterCodingException e) {
            return body;
        }
    }
}
