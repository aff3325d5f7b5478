// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.http;

import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.smqtt.access.backend.BackendContext;
import io.smqtt.config.AccessBackendConfig;
import io.smqtt.thread.AnyThread;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.netty.ByteBufFlux;
import reactor.netty.ByteBufMono;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.client.HttpClientResponse;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;

/** Sends requests to one server, over connections that stay open. It has a thread of its own, beside those of the broker's clients. */
@AnyThread
final class HttpSender {

    private static final int MAXIMUM_ANSWER_BYTES = 1 << 20;
    private static final Duration IDLE = Duration.ofSeconds(30);

    private final ConnectionProvider connections;
    private final LoopResources loop;
    private final HttpClient client;

    /**
     * Creates thread and pool. Does not connect.
     *
     * @param authorities the authorities that are trusted; null for those of Java
     */
    HttpSender(BackendContext context, @Nullable TrustManagerFactory authorities) {
        AccessBackendConfig config = context.config();
        String name = "smqtt-access-" + context.name();
        connections = ConnectionProvider.builder(name)
                .maxConnections(config.maxConcurrent())
                .pendingAcquireMaxCount(config.maxConcurrent())
                .pendingAcquireTimeout(config.timeout())
                .maxIdleTime(IDLE)
                .lifo()
                .build();
        loop = LoopResources.create(name, 1, true);
        HttpClient plain = HttpClient.create(connections)
                .runOn(loop, true)
                .option(
                        ChannelOption.CONNECT_TIMEOUT_MILLIS,
                        Math.toIntExact(config.timeout().toMillis()))
                .followRedirect(false)
                .compress(false);
        client = authorities == null ? plain : trusting(plain, authorities);
    }

    private static HttpClient trusting(HttpClient plain, TrustManagerFactory authorities) {
        try {
            SslContext tls =
                    SslContextBuilder.forClient().trustManager(authorities).build();
            return plain.secure(spec -> spec.sslContext(tls));
        } catch (SSLException e) {
            throw new IllegalStateException(e); // Java has all that it needs
        }
    }

    Mono<HttpAnswer> send(HttpQuestion.Filled question) {
        String body = question.body();
        HttpClient prepared = client.headers(headers -> question.headers().forEach(headers::set));
        HttpClient.RequestSender sender = prepared.request(question.get() ? HttpMethod.GET : HttpMethod.POST)
                .uri(question.url());
        HttpClient.ResponseReceiver<?> receiver = body == null
                ? sender
                : sender.send(ByteBufMono.fromString(
                        Mono.just(body), StandardCharsets.UTF_8, io.netty.buffer.ByteBufAllocator.DEFAULT));
        return receiver.response(HttpSender::read).single();
    }

    private static Mono<HttpAnswer> read(HttpClientResponse response, ByteBufFlux content) {
        String type = response.responseHeaders().get("content-type", "").toLowerCase(Locale.ROOT);
        return content.asByteArray()
                .reduceWith(ByteArrayOutputStream::new, (bytes, part) -> {
                    if (bytes.size() + part.length > MAXIMUM_ANSWER_BYTES) {
                        throw new HttpFailedException("an answer of more than 1 MiB");
                    }
                    bytes.writeBytes(part);
                    return bytes;
                })
                .map(bytes -> new HttpAnswer(response.status().code(), type, bytes.toString(StandardCharsets.UTF_8)));
    }

    void close() {
        connections.disposeLater().block(Duration.ofSeconds(3));
        loop.disposeLater(Duration.ZERO, Duration.ofSeconds(2)).block(Duration.ofSeconds(3));
    }
}
