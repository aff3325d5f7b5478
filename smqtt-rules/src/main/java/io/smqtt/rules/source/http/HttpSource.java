// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.source.http;

import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.smqtt.rules.sink.RowTemplate;
import io.smqtt.rules.sink.SinkException;
import io.smqtt.rules.sink.SinkSettings;
import io.smqtt.rules.sink.Source;
import io.smqtt.rules.sink.SourceContext;
import io.smqtt.rules.sink.SourceOutput;
import io.smqtt.thread.AnyThread;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.DisposableServer;
import reactor.netty.NettyPipeline;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.LoopResources;

/** A listener for HTTP, on a thread of its own beside those of the broker's clients. */
@AnyThread
final class HttpSource implements Source {

    private static final Logger LOG = LoggerFactory.getLogger(HttpSource.class);
    private static final Duration DISPOSE = Duration.ofSeconds(2);
    private static final Duration LAST_ANSWERS = Duration.ofMillis(500);

    /** Names that begin with 127 can be any host. */
    private static final Pattern LOOPBACK = Pattern.compile("127(\\.\\d{1,3}){3}|::1|localhost");

    private final SourceContext context;
    private final SinkSettings settings;
    private final @Nullable String token;
    private final @Nullable SignatureCheck signature;
    private final @Nullable SslContext tls;
    private @Nullable LoopResources loop; // guarded by this
    private boolean closed; // guarded by this
    private volatile int port;
    private volatile boolean listening;
    private volatile Mono<Void> ended = Mono.empty();

    HttpSource(SourceContext context) {
        this.context = context;
        this.settings = context.settings();
        this.token = settings.secret(HttpSourceFactory.TOKEN);
        String secret = settings.secret(HttpSourceFactory.SIGNATURE);
        this.signature = secret == null ? null : new SignatureCheck(secret, () -> System.currentTimeMillis() / 1_000);
        this.tls = tls();
        if (token == null && secret == null && !isLoopback(settings.text(HttpSourceFactory.HOST))) {
            throw settings.problem(
                    HttpSourceFactory.HOST,
                    "needs token-file or signature-secret-file, so that not every peer can send, or must be 127.0.0.1");
        }
        checkSigned();
        if (settings.bytes(HttpSourceFactory.MAX_MEMORY) < settings.bytes(HttpSourceFactory.MAX_BODY)) {
            throw settings.problem(HttpSourceFactory.MAX_MEMORY, "must not be less than max-body");
        }
        if (!settings.text(HttpSourceFactory.PATH).startsWith("/")) {
            throw settings.problem(HttpSourceFactory.PATH, "must begin with a slash");
        }
    }

    /** Checks that the sender of a repeated signed body cannot choose another topic for it. */
    private void checkSigned() {
        if (signature != null
                && token == null
                && isTopicOfRequest(context.config().topic())) {
            throw settings.problem(
                    HttpSourceFactory.SIGNATURE,
                    "is for the body alone, so that the topic must not have ${path}, ${query}, ${headers} or ${.}; set token-file too, or take the topic from ${payload}");
        }
    }

    private static boolean isTopicOfRequest(String topic) {
        try {
            RowTemplate template = RowTemplate.parse(topic);
            return template.hasWholeRow()
                    || template.columns().stream()
                            .anyMatch(column -> !column.equals(SourceOutput.PAYLOAD) && !column.equals("peerhost"));
        } catch (IllegalArgumentException e) {
            return false; // what is wrong with it is said elsewhere
        }
    }

    private static boolean isLoopback(String host) {
        return LOOPBACK.matcher(host).matches();
    }

    private @Nullable SslContext tls() {
        Path certificate = settings.file(HttpSourceFactory.CERTIFICATE);
        Path key = settings.file(HttpSourceFactory.PRIVATE_KEY);
        if ((certificate == null) != (key == null)) {
            throw settings.problem(HttpSourceFactory.CERTIFICATE, "and private-key must be set together");
        }
        if (certificate == null || key == null) {
            return null;
        }
        try {
            return SslContextBuilder.forServer(certificate.toFile(), key.toFile())
                    .build();
        } catch (SSLException | IllegalArgumentException e) {
            throw settings.problem(
                    HttpSourceFactory.CERTIFICATE, "and private-key are no pair in PEM that can be read");
        }
    }

    /** The port that is bound; 0 before the first run. */
    int port() {
        return port;
    }

    @Override
    public Mono<Void> run(SourceOutput out) {
        return Mono.defer(() -> {
            ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
            HttpRequests requests = new HttpRequests(context, token, signature, out);
            HttpServer server = server(requests, connections, out);
            Sinks.Empty<Void> over = Sinks.empty();
            ended = over.asMono();
            return Mono.usingWhen(
                    server.bind()
                            .doOnNext(bound -> {
                                port = bound.port();
                                listening = true;
                                LOG.info("source {}: bound to {}:{}", context.name(), bound.host(), port);
                                out.working();
                            })
                            .doOnError(error -> over.tryEmitEmpty())
                            .doOnCancel(over::tryEmitEmpty),
                    DisposableServer::onDispose,
                    bound -> end(bound, requests, connections, over),
                    (bound, error) -> end(bound, requests, connections, over),
                    bound -> end(bound, requests, connections, over));
        });
    }

    @Override
    public Mono<Void> ended() {
        return Mono.defer(() -> ended);
    }

    private synchronized LoopResources loop() {
        if (closed) {
            throw new SinkException("the source is closed", true);
        }
        LoopResources present = loop;
        if (present == null) {
            present = LoopResources.create("smqtt-source-" + context.name(), 1, true);
            loop = present;
        }
        return present;
    }

    @Override
    public Mono<Void> check() {
        return Mono.defer(() ->
                listening ? Mono.empty() : Mono.error(new SinkException("it does not listen on this node", true)));
    }

    /** Binds the port for a moment. */
    @Override
    public Mono<Void> tryOut() {
        return Mono.defer(() -> HttpServer.create()
                .host(settings.text(HttpSourceFactory.HOST))
                .port(Math.toIntExact(settings.number(HttpSourceFactory.PORT)))
                .runOn(loop(), true)
                .bind()
                .flatMap(bound -> {
                    bound.dispose();
                    return bound.onDispose();
                }));
    }

    private HttpServer server(HttpRequests requests, ChannelGroup group, SourceOutput out) {
        Duration timeout = settings.duration(HttpSourceFactory.TIMEOUT);
        HttpConnections connections =
                new HttpConnections(settings.number(HttpSourceFactory.MAX_CONNECTIONS), timeout, out);
        HttpServer server = HttpServer.create()
                .host(settings.text(HttpSourceFactory.HOST))
                .port(Math.toIntExact(settings.number(HttpSourceFactory.PORT)))
                .runOn(loop(), true)
                .channelGroup(group)
                .idleTimeout(timeout)
                .doOnChannelInit((observer, channel, remote) -> { // doOnConnection is raised for each request
                    channel.pipeline().addAfter(NettyPipeline.HttpCodec, "smqtt.malformed", new MalformedRequests(out));
                    connections.admit(channel);
                })
                .handle((request, response) -> {
                    request.withConnection(connection -> HttpConnections.asked(connection.channel()));
                    return requests.handle(request, response);
                });
        SslContext secured = tls;
        return secured == null ? server : server.secure(spec -> spec.sslContext(secured));
    }

    /** Ends a run: no further request is taken, and those that were taken get their answers if these come soon. */
    private Mono<Void> end(
            DisposableServer bound, HttpRequests requests, ChannelGroup connections, Sinks.Empty<Void> over) {
        return Mono.defer(() -> {
                    listening = false;
                    requests.end();
                    bound.dispose();
                    return (requests.open() == 0 ? Mono.empty() : Mono.delay(LAST_ANSWERS))
                            .then(Mono.<Void>fromRunnable(connections::close))
                            .then(bound.onDispose());
                })
                .doFinally(signal -> over.tryEmitEmpty());
    }

    /** Does not wait: the thread ends when the last run has. */
    @Override
    public void close() {
        LoopResources present;
        synchronized (this) {
            closed = true;
            present = loop;
            loop = null;
        }
        if (present != null) {
            ended().timeout(LAST_ANSWERS.multipliedBy(2), Mono.empty())
                    .then(present.disposeLater(Duration.ZERO, DISPOSE))
                    .subscribe(
                            done -> {},
                            error -> LOG.warn("source {}: its thread could not be ended", context.name(), error));
        }
    }
}
