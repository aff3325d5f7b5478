// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.smqtt.admin.account.Credentials;
import io.smqtt.admin.api.Api;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiCall;
import io.smqtt.admin.api.Problem;
import io.smqtt.config.ManagementConfig;
import io.smqtt.config.ManagementTlsConfig;
import io.smqtt.config.TlsConfig;
import io.smqtt.log.LogLimiter;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.HealthReport;
import io.smqtt.transport.BindFailedException;
import io.smqtt.transport.TlsContexts;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.ChannelBindException;
import reactor.netty.DisposableServer;
import reactor.netty.NettyPipeline;
import reactor.netty.channel.AbortedException;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;
import reactor.netty.resources.LoopResources;

/**
 * The management port: HTTP/1.1, on a thread of its own, so that it answers while the event loops of the broker are busy,
 * and never takes time from them.
 */
final class ManagementServer {

    static final String NAME = "management";

    private static final Logger LOG = LoggerFactory.getLogger(ManagementServer.class);

    /** Maximum number of connections of unknown callers, and of new connections. */
    private static final int MAX_OTHERS = 128;

    /** Maximum number of connections of health probes, in addition. */
    private static final int MAX_PROBES = 128;

    /** Maximum number of connections of known callers, in addition. */
    private static final int MAX_KNOWN = 384;

    private static final int MAX_LINE_BYTES = 16_384;
    private static final int MAX_HEADER_BYTES = 8_192;
    private static final int MAX_BODY_BYTES = 1 << 20;
    private static final Mono<ManagementEndpoint.Answer> LATE =
            Mono.just(ManagementEndpoint.Answer.text(503, "the broker has not answered in time\n"));
    private static final Duration IDLE = Duration.ofSeconds(75);

    /**
     * Timeout for the first request of a connection, and for each body. Slow sending does not extend it.
     */
    static final Duration FIRST_REQUEST = Duration.ofSeconds(10);

    private static final Duration BEYOND = Duration.ofSeconds(2);
    private static final Duration DISPOSE = Duration.ofSeconds(2);
    private static final InetSocketAddress NO_ADDRESS = InetSocketAddress.createUnresolved("", 0);
    private static final Problem TOO_LARGE = Problem.bodyTooLarge();
    private static final Problem TOO_SLOW = Problem.bodyTooSlow();
    private static final Problem NO_ROOM =
            Problem.unavailable("requests and answers hold as much memory as they may; try again");

    private static final String HEALTH = "/health/";
    private static final String NEEDED = "a token is needed: Authorization: Bearer ...\n";
    private static final String WRONG = "wrong token\n";
    private static final String NONE_SET = "a token is needed, and this broker has none: set management.token-file\n";
    private static final String TEXT = "text/plain; charset=utf-8";
    private static final String JSON = "application/json";
    private static final String PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";

    private final ManagementConfig config;
    private final @Nullable TlsContexts tls;
    private final ManagementToken token;
    private final BrokerView view;
    private final ManagementConnections connections = new ManagementConnections(MAX_OTHERS, MAX_PROBES, MAX_KNOWN);
    private final LogLimiter malformed = new LogLimiter(LOG, Level.WARN, 1);
    private final ManagementMemory memory;
    private final Duration read;
    private final boolean nativeTransport;
    private final Duration firstRequest;
    private final List<Added> added = new CopyOnWriteArrayList<>();
    private volatile @Nullable AdminParts mounted;
    private volatile Predicate<@Nullable String> known = authorization -> false;
    private volatile @Nullable LoopResources loop;

    /** The thread of the port. An answer that another thread sends can overtake the end of its request, which is then not answered. */
    private volatile Scheduler sending = Schedulers.immediate();

    private volatile @Nullable DisposableServer server;

    ManagementServer(
            ManagementConfig config,
            ManagementToken token,
            BrokerView view,
            boolean nativeTransport,
            Duration firstRequest) {
        this(config, token, view, nativeTransport, firstRequest, Limits.STANDARD);
    }

    /**
     * Limits of the memory and time that requests take.
     *
     * @param heapBytes the maximum size of the heap
     * @param read the time for the reading of a large answer
     */
    record Limits(long heapBytes, Duration read) {

        static final Limits STANDARD = new Limits(Runtime.getRuntime().maxMemory(), Duration.ofMinutes(2));
    }

    /** The same with other limits. */
    ManagementServer(
            ManagementConfig config,
            ManagementToken token,
            BrokerView view,
            boolean nativeTransport,
            Duration firstRequest,
            Limits limits) {
        this.memory = ManagementMemory.of(limits.heapBytes);
        this.read = limits.read;
        this.config = config;
        this.tls = tls(config);
        this.token = token;
        this.view = view;
        this.nativeTransport = nativeTransport;
        this.firstRequest = firstRequest;
    }

    private static @Nullable TlsContexts tls(ManagementConfig config) {
        ManagementTlsConfig files = config.tls();
        return files == null
                ? null
                : new TlsContexts(
                        "management.tls",
                        TlsConfig.builder(files.certificate(), files.key()).build());
    }

    /**
     * Reloads certificate and key for new connections. Blocks.
     *
     * @return the files; none without TLS
     * @throws io.smqtt.config.ConfigurationException if one cannot be used; then the old ones stay in use
     */
    List<Path> reload() {
        return tls == null ? List.of() : tls.reload();
    }

    /** Registers an endpoint for the paths with a prefix. */
    void endpoint(String prefix, ManagementEndpoint endpoint) {
        added.add(new Added(prefix, endpoint));
    }

    /** Sets how callers with a login or an API key are known. To be called before the port is bound. */
    void known(Predicate<@Nullable String> test) {
        known = test;
    }

    /** Serves the API and the dashboard, too. To be called before the port is bound. */
    void mount(AdminParts parts) {
        mounted = parts;
        known(parts.known());
    }

    Mono<Void> bind() {
        return Mono.defer(() -> {
                    LoopResources own = LoopResources.create("smqtt-management", 1, true);
                    loop = own;
                    sending = Schedulers.fromExecutor(
                            own.onServer(nativeTransport).next());
                    return server(own).bind();
                })
                .doOnNext(bound -> {
                    server = bound;
                    LOG.info(
                            "management port bound to {}:{}{}",
                            config.host(),
                            bound.port(),
                            tls == null ? "" : ", TLS");
                })
                .onErrorMap(cause -> new BindFailedException(NAME, config.host() + ":" + config.port(), root(cause)))
                .then();
    }

    private static Throwable root(Throwable cause) {
        Throwable inner = cause instanceof ChannelBindException ? cause.getCause() : cause;
        return inner == null ? cause : inner;
    }

    private HttpServer server(LoopResources own) {
        return HttpServer.create()
                .runOn(own, nativeTransport)
                .protocol(HttpProtocol.HTTP11)
                .bindAddress(() -> new InetSocketAddress(config.host(), config.port()))
                .option(ChannelOption.SO_REUSEADDR, true)
                .httpRequestDecoder(
                        limits -> limits.maxInitialLineLength(MAX_LINE_BYTES).maxHeaderSize(MAX_HEADER_BYTES))
                .idleTimeout(IDLE)
                .requestTimeout(firstRequest.plus(BEYOND)) // an upper limit for all other delays
                .doOnChannelInit(
                        (observer, channel, remote) -> admit(channel)) // doOnConnection is raised for each request
                .handle(this::answer);
    }

    private void admit(Channel channel) {
        connections.admit(channel);
        channel.pipeline().addAfter(NettyPipeline.HttpCodec, "malformed", new MalformedRequests(malformed));
        if (tls != null) {
            channel.pipeline().addFirst(tls.newHandler(channel.alloc()));
        }
        ScheduledFuture<?> silent = channel.eventLoop()
                .schedule(
                        () -> {
                            if (!connections.hasAsked(channel)) {
                                channel.close();
                            }
                        },
                        firstRequest.toNanos(),
                        TimeUnit.NANOSECONDS);
        channel.closeFuture().addListener(closed -> silent.cancel(false));
    }

    /** {@return the connections} */
    ManagementConnections connections() {
        return connections;
    }

    /** {@return what requests and answers hold} */
    ManagementMemory memory() {
        return memory;
    }

    /** The port that is bound, or null. */
    @Nullable
    InetSocketAddress address() {
        DisposableServer bound = server;
        return bound == null ? null : new InetSocketAddress(config.host(), bound.port());
    }

    Mono<Void> close() {
        return Mono.defer(() -> {
            DisposableServer bound = server;
            LoopResources own = loop;
            if (bound != null) {
                bound.dispose();
            }
            return own == null ? Mono.empty() : own.disposeLater(Duration.ZERO, DISPOSE);
        });
    }

    private Mono<Void> answer(HttpServerRequest request, HttpServerResponse response) {
        String authorization = request.requestHeaders().get(HttpHeaderNames.AUTHORIZATION);
        boolean hasToken = token.accepts(authorization);
        AtomicReference<@Nullable Channel> asking = new AtomicReference<>();
        AtomicReference<@Nullable Channel> own = new AtomicReference<>();
        AtomicBoolean isTaken = new AtomicBoolean(true);
        ManagementConnections.Kind kind = request.fullPath().startsWith(HEALTH) // also with the token
                ? ManagementConnections.Kind.PROBE
                : hasToken || known.test(authorization)
                        ? ManagementConnections.Kind.KNOWN
                        : ManagementConnections.Kind.OTHER;
        request.withConnection(connection -> {
            asking.set(connection.channel());
            own.set(connection.channel());
            isTaken.set(connections.asked(connection.channel(), kind));
        });
        Runnable answered = () -> {
            Channel channel = asking.getAndSet(null);
            if (channel != null) {
                connections.answered(channel);
            }
        };
        ManagementMemory.Share share = memory.share();
        Mono<Void> answer =
                isTaken.get() ? answer(request, response, share, hasToken, authorization != null) : busy(response);
        return answer.doOnTerminate(answered).doOnCancel(answered).doFinally(end -> {
            Channel channel = own.get();
            if (channel == null) {
                share.release();
            } else {
                channel.eventLoop().execute(() -> UnreadAnswer.await(channel, share, read));
            }
        });
    }

    private Mono<Void> answer(
            HttpServerRequest request,
            HttpServerResponse response,
            ManagementMemory.Share share,
            boolean hasToken,
            boolean triedToken) {
        AdminParts parts = mounted;
        Mono<ApiAnswer> found = parts == null ? null : parts.answer(call(request, share));
        if (found != null) {
            return found.publishOn(sending).flatMap(answer -> send(request, response, share, answer));
        }
        String refusal = !token.exists() ? NONE_SET : triedToken ? WRONG : NEEDED;
        for (Added more : added) {
            if (request.fullPath().startsWith(more.prefix)) {
                return hasToken
                        ? answerAdded(more.endpoint, request, response, share)
                        : unauthorized(response, refusal); // also for local users
            }
        }
        if (!request.method().equals(HttpMethod.GET) && !request.method().equals(HttpMethod.HEAD)) {
            response.header(HttpHeaderNames.ALLOW, "GET, HEAD");
            return send(response, HttpResponseStatus.METHOD_NOT_ALLOWED, TEXT, "only GET and HEAD\n");
        }
        boolean wrongToken = triedToken && !hasToken && token.exists();
        boolean mayLook = hasToken
                || (!wrongToken && token.lookingIsFree(request.requestHeaders().get(HttpHeaderNames.HOST)));
        String path = request.fullPath();
        return switch (path) {
            // Without a valid token the answer is one word, which is enough for the probes of orchestrators.
            case "/health/live" -> health(response, view.live(), mayLook);
            case "/health/ready" -> health(response, view.ready(), mayLook);
            case "/metrics" -> mayLook ? metrics(response) : unauthorized(response, refusal);
            case "/cluster" -> mayLook ? cluster(response) : unauthorized(response, refusal);
            default ->
                hasToken
                        ? send(response, HttpResponseStatus.NOT_FOUND, TEXT, "no such path\n")
                        : unauthorized(response, refusal);
        };
    }

    private ApiCall call(HttpServerRequest request, ManagementMemory.Share share) {
        HttpHeaders headers = request.requestHeaders();
        InetSocketAddress remote = request.remoteAddress();
        String uri = request.uri();
        int query = uri.indexOf('?');
        return new ApiCall(
                request.method().name(),
                path(query < 0 ? uri : uri.substring(0, query)),
                query < 0 ? "" : uri.substring(query + 1),
                new Credentials(
                        headers.get(HttpHeaderNames.AUTHORIZATION),
                        remote == null ? NO_ADDRESS : remote,
                        headers.get(HttpHeaderNames.HOST),
                        headers.get(HttpHeaderNames.ORIGIN),
                        null),
                headers::get,
                most -> body(request, share, most)
                        .onErrorMap(BodyTooLargeException.class, error -> TOO_LARGE.exception())
                        .onErrorMap(SlowBodyException.class, error -> TOO_SLOW.exception())
                        .onErrorMap(NoRoomException.class, error -> NO_ROOM.exception()));
    }

    /** The path as it was sent, also of an absolute URI: that of the request is decoded. */
    private static String path(String uri) {
        int scheme = uri.startsWith("/") ? -1 : uri.indexOf("://");
        int slash = scheme < 0 ? 0 : uri.indexOf('/', scheme + 3);
        return slash < 0 ? "/" : uri.substring(slash);
    }

    private static Mono<Void> send(
            HttpServerRequest request, HttpServerResponse response, ManagementMemory.Share share, ApiAnswer answer) {
        if (answer instanceof ApiAnswer.Content content && !share.answer(content.body().length)) {
            return send(request, response, share, NO_ROOM.answer().with("Retry-After", "1"));
        }
        HttpServerResponse begun = response.status(answer.status()).header(HttpHeaderNames.CACHE_CONTROL, "no-store");
        answer.headers().forEach((name, value) -> begun.responseHeaders().set(name, value));
        if (!answer.contentType().isEmpty()) {
            begun.header(HttpHeaderNames.CONTENT_TYPE, answer.contentType());
        }
        boolean closes = answer.status() == TOO_LARGE.status() || answer.status() == TOO_SLOW.status();
        if (share.isRefused()) {
            begun.header(HttpHeaderNames.RETRY_AFTER, "1");
        }
        if (closes || share.isRefused()) { // the rest of the body is not read
            begun.header(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        }
        boolean headOnly = request.method().equals(HttpMethod.HEAD);
        if (answer instanceof ApiAnswer.Stream stream) {
            return headOnly
                    ? begun.send()
                    : begun.send(stream.parts().map(Unpooled::wrappedBuffer), part -> true)
                            .then();
        }
        byte[] body = ((ApiAnswer.Content) answer).body();
        if (answer.status() != HttpResponseStatus.NO_CONTENT.code()
                && answer.status() != HttpResponseStatus.NOT_MODIFIED.code()) {
            begun.header(HttpHeaderNames.CONTENT_LENGTH, Integer.toString(body.length));
        }
        return body.length == 0 || headOnly
                ? begun.send()
                : begun.sendByteArray(Mono.just(body)).then();
    }

    private Mono<byte[]> body(HttpServerRequest request, ManagementMemory.Share share, int limit) {
        int most = Math.min(limit, memory.maxBodyBytes());
        return request.receive()
                .asByteArray()
                .reduceWith(ByteArrayOutputStream::new, (body, part) -> append(body, part, most, share))
                .map(ByteArrayOutputStream::toByteArray)
                .defaultIfEmpty(new byte[0])
                .timeout(firstRequest)
                .onErrorMap(TimeoutException.class, error -> new SlowBodyException());
    }

    /** Answers a request whose token was checked. */
    private Mono<Void> answerAdded(
            ManagementEndpoint endpoint,
            HttpServerRequest request,
            HttpServerResponse response,
            ManagementMemory.Share share) {
        HttpMethod method = request.method();
        if (!method.equals(HttpMethod.GET) && !method.equals(HttpMethod.POST)) {
            response.header(HttpHeaderNames.ALLOW, "GET, POST");
            return send(response, HttpResponseStatus.METHOD_NOT_ALLOWED, TEXT, "only GET and POST\n");
        }
        Map<String, String> parameters = new HashMap<>();
        try {
            new QueryStringDecoder(request.uri())
                    .parameters()
                    .forEach((name, values) -> parameters.put(name, values.get(0)));
        } catch (IllegalArgumentException e) {
            return send(response, HttpResponseStatus.BAD_REQUEST, TEXT, "the query is not encoded as it must be\n");
        }
        Mono<String> body =
                body(request, share, MAX_BODY_BYTES).map(bytes -> new String(bytes, StandardCharsets.UTF_8));
        return body.flatMap(text -> endpoint.answer(
                                new ManagementEndpoint.Request(method.name(), request.fullPath(), parameters, text))
                        .timeout(Api.PATIENCE, LATE))
                .onErrorResume(BodyTooLargeException.class, error -> {
                    response.header(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
                    return Mono.just(ManagementEndpoint.Answer.text(413, "the body is larger than 1 MiB\n"));
                })
                .onErrorResume(SlowBodyException.class, error -> {
                    response.header(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
                    return Mono.just(ManagementEndpoint.Answer.text(408, "the body came too slowly\n"));
                })
                .onErrorResume(NoRoomException.class, error -> {
                    response.header(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE)
                            .header(HttpHeaderNames.RETRY_AFTER, "1");
                    return Mono.just(ManagementEndpoint.Answer.text(503, NO_ROOM.message() + "\n"));
                })
                .onErrorResume(
                        error -> error instanceof IOException || AbortedException.isConnectionReset(error), error -> {
                            LOG.debug("a request ended with its connection", error);
                            return Mono.empty();
                        })
                .onErrorResume(error -> {
                    LOG.warn("a request of the management port failed", error);
                    return Mono.just(ManagementEndpoint.Answer.text(500, "failed; see the log\n"));
                })
                .flatMap(answer -> send(
                        response, HttpResponseStatus.valueOf(answer.status()), answer.contentType(), answer.body()));
    }

    private static ByteArrayOutputStream append(
            ByteArrayOutputStream body, byte[] part, int most, ManagementMemory.Share share) {
        if (body.size() + part.length > most) {
            throw new BodyTooLargeException();
        }
        if (!share.receive(part.length)) {
            throw new NoRoomException();
        }
        body.writeBytes(part);
        return body;
    }

    /** The body is larger than the limit. */
    private static final class BodyTooLargeException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        BodyTooLargeException() {
            super("body too large", null, false, false);
        }
    }

    /** The body did not arrive within the timeout. */
    private static final class SlowBodyException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        SlowBodyException() {
            super("slow body", null, false, false);
        }
    }

    /** The bodies of all requests are as large as they may be. */
    private static final class NoRoomException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        NoRoomException() {
            super("no room for the body", null, false, false);
        }
    }

    /**
     * The paths of an endpoint.
     *
     * @param prefix their common prefix
     * @param endpoint answers them
     */
    private record Added(String prefix, ManagementEndpoint endpoint) {}

    private Mono<Void> metrics(HttpServerResponse response) {
        String lines = view.scrape();
        return lines == null
                ? send(response, HttpResponseStatus.NOT_FOUND, TEXT, "this broker keeps no metrics\n")
                : send(response, HttpResponseStatus.OK, PROMETHEUS, lines);
    }

    private Mono<Void> cluster(HttpServerResponse response) {
        ClusterStatus status = view.clusterStatus();
        if (status == null) {
            return send(response, HttpResponseStatus.NOT_FOUND, TEXT, "this broker is not a node of a cluster\n");
        }
        Map<String, @Nullable Object> fields = Fields.of(status);
        fields.put("replicas", view.replicasHere().stream().map(Fields::of).toList());
        fields.put("places", view.places());
        return send(response, HttpResponseStatus.OK, JSON, Json.of(fields) + "\n");
    }

    private static Mono<Void> unauthorized(HttpServerResponse response, String text) {
        response.header(HttpHeaderNames.WWW_AUTHENTICATE, "Bearer realm=\"smqtt\"");
        return send(response, HttpResponseStatus.UNAUTHORIZED, TEXT, text);
    }

    private static Mono<Void> busy(HttpServerResponse response) {
        response.header(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE).header(HttpHeaderNames.RETRY_AFTER, "1");
        return send(response, HttpResponseStatus.SERVICE_UNAVAILABLE, TEXT, "too many requests at a time\n");
    }

    private static Mono<Void> health(HttpServerResponse response, HealthReport report, boolean mayLook) {
        HttpResponseStatus status = report.up() ? HttpResponseStatus.OK : HttpResponseStatus.SERVICE_UNAVAILABLE;
        HealthReport shown = mayLook ? report : new HealthReport(report.up(), Map.of());
        return send(response, status, JSON, Json.of(Fields.of(shown)) + "\n");
    }

    private static Mono<Void> send(HttpServerResponse response, HttpResponseStatus status, String type, String text) {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        return response.status(status)
                .header(HttpHeaderNames.CONTENT_TYPE, type)
                .header(HttpHeaderNames.CONTENT_LENGTH, Integer.toString(body.length))
                .header(HttpHeaderNames.CACHE_CONTROL, "no-store")
                .sendByteArray(Mono.just(body))
                .then();
    }
}
