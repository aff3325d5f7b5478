// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink.http;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.ssl.SslContextBuilder;
import io.smqtt.config.RuleActionConfig;
import io.smqtt.rules.sink.SinkContext;
import io.smqtt.rules.sink.SinkException;
import io.smqtt.thread.AnyThread;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.netty.ByteBufFlux;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.client.HttpClientResponse;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;

/**
 * Sends requests to one server, over connections that stay open. It has a thread of its own, beside those of the broker's clients, from the first
 * request on. An answer of 2xx is a success; a failure may pass if there is no answer, or it is 408, 425, 429 or 5xx.
 */
@AnyThread
final class HttpClientThread {

    private static final Logger LOG = LoggerFactory.getLogger(HttpClientThread.class);
    private static final int MOST_ANSWER_BYTES = 65_536;
    private static final int SHOWN_CHARACTERS = 200;
    private static final Duration LONGEST_BODY = Duration.ofSeconds(1);
    private static final Duration END = Duration.ofSeconds(2);
    private static final Duration IDLE = Duration.ofSeconds(30);
    private static final int TOO_MANY_REQUESTS = 429;

    private final SinkContext context;
    private final @Nullable Path authority;
    private final Duration bodyTime;
    private @Nullable Open open; // guarded by this
    private boolean closed; // guarded by this

    /** What exists from the first request on. */
    private record Open(ConnectionProvider connections, LoopResources loop, HttpClient client) {}

    /**
     * A request.
     *
     * @param method the method
     * @param url the URL
     * @param headers its headers
     * @param body its body
     */
    record Request(HttpMethod method, String url, Map<String, String> headers, byte[] body) {}

    HttpClientThread(SinkContext context, @Nullable Path authority) {
        this.context = context;
        this.authority = authority;
        Duration half = context.config().timeout().dividedBy(2);
        this.bodyTime = half.compareTo(LONGEST_BODY) < 0 ? half : LONGEST_BODY;
        if (authority != null) {
            trust(authority);
        }
    }

    private SslContextBuilder trust(Path file) {
        try {
            SslContextBuilder tls = SslContextBuilder.forClient().trustManager(file.toFile());
            tls.build();
            return tls;
        } catch (SSLException | IllegalArgumentException e) {
            throw context.settings().problem("ca", "has no certificates of authorities in PEM that can be read");
        }
    }

    private synchronized HttpClient client() {
        if (closed) {
            throw new SinkException("the sink is closed", true);
        }
        Open present = open;
        if (present == null) {
            present = begin();
            open = present;
        }
        return present.client();
    }

    private Open begin() {
        RuleActionConfig config = context.config();
        String name = "smqtt-rule-" + context.rule() + '-' + context.action();
        ConnectionProvider connections = ConnectionProvider.builder(name)
                .maxConnections(config.lanes())
                .pendingAcquireMaxCount(2 * config.lanes() + 2)
                .pendingAcquireTimeout(config.timeout())
                .maxIdleTime(IDLE)
                .lifo()
                .build();
        LoopResources loop = LoopResources.create(name, 1, true);
        HttpClient client = HttpClient.create(connections)
                .runOn(loop, true)
                .option(
                        ChannelOption.CONNECT_TIMEOUT_MILLIS,
                        Math.toIntExact(config.timeout().toMillis()))
                .disableRetry(true) // the action counts what is sent again
                .followRedirect(false)
                .compress(false);
        if (authority == null) {
            return new Open(connections, loop, client);
        }
        try {
            var tls = trust(authority).build();
            return new Open(connections, loop, client.secure(spec -> spec.sslContext(tls)));
        } catch (SSLException e) {
            throw new SinkException("the certificates of the authorities cannot be read", true);
        }
    }

    /** Sends a request. Completes with an answer of 2xx, otherwise with a {@link SinkException}. */
    Mono<Void> send(Request request) {
        return Mono.defer(() -> client().headers(headers -> request.headers().forEach(headers::set))
                        .request(request.method())
                        .uri(request.url())
                        .send(Mono.fromSupplier(() -> Unpooled.wrappedBuffer(request.body())))
                        .response(this::read)
                        .then())
                .onErrorMap(error -> !(error instanceof SinkException), HttpClientThread::unreachable);
    }

    /** Connects to the server of a URL: any answer will do. */
    Mono<Void> check(String url) {
        return Mono.defer(() -> client().request(HttpMethod.HEAD)
                        .uri(url)
                        .response((response, content) -> content.then())
                        .then())
                .onErrorMap(error -> !(error instanceof SinkException), HttpClientThread::unreachable);
    }

    private static Throwable unreachable(Throwable error) {
        String reason = error.getMessage() == null ? error.getClass().getSimpleName() : error.getMessage();
        return new SinkException("no answer: " + reason, true);
    }

    /** Judges an answer by its status. Of its body only so much is read, and for so long, that the connection can be used again if that was all. */
    private Mono<Void> read(HttpClientResponse response, ByteBufFlux content) {
        int status = response.status().code();
        Body body = new Body();
        Mono<Void> read = content.asByteArray()
                .doOnNext(body::add)
                .takeUntil(part -> body.isEnough())
                .take(bodyTime)
                .then()
                .onErrorComplete();
        if (status >= 200 && status < 300) {
            return read;
        }
        boolean passes = status >= 500 || status == 408 || status == 425 || status == TOO_MANY_REQUESTS;
        return read.then(Mono.error(() -> new SinkException("status " + status + shown(body.start), passes)));
    }

    /** The begin of the body of one answer. On the thread of its connection. */
    private static final class Body {

        private byte[] start = new byte[0];
        private long bytes;

        void add(byte[] part) {
            if (start.length == 0) {
                start = part; // the first part is enough
            }
            bytes += part.length;
        }

        boolean isEnough() {
            return bytes >= MOST_ANSWER_BYTES;
        }
    }

    private static String shown(byte[] start) {
        String text = new String(start, StandardCharsets.UTF_8).strip();
        if (text.isEmpty()) {
            return "";
        }
        return ": " + (text.length() > SHOWN_CHARACTERS ? text.substring(0, SHOWN_CHARACTERS) + "…" : text);
    }

    /** Ends connections and thread, without waiting for that. */
    void close() {
        Open present;
        synchronized (this) {
            closed = true;
            present = open;
            open = null;
        }
        if (present != null) {
            present.connections()
                    .disposeLater()
                    .timeout(END)
                    .onErrorComplete()
                    .then(present.loop().disposeLater(Duration.ZERO, END))
                    .subscribe(ended -> {}, error -> LOG.debug("the thread of requests has not ended", error));
        }
    }
}
