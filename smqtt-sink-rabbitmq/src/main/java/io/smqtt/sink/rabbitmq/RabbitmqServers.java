// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.rabbitmq;

import com.rabbitmq.client.Address;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.SocketConfigurator;
import com.rabbitmq.client.SocketConfigurators;
import io.netty.handler.ssl.JdkSslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.smqtt.config.ConfigurationException;
import io.smqtt.rules.sink.SinkContext;
import io.smqtt.rules.sink.SinkSetting;
import io.smqtt.rules.sink.SinkSettings;
import io.smqtt.rules.sink.SourceContext;
import io.smqtt.thread.AnyThread;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** The addresses of RabbitMQ, and how they are connected to. Files are read for each connection anew, so that renewed ones are used. Immutable. */
@AnyThread
final class RabbitmqServers {

    static final String URL = "url";
    static final String VIRTUAL_HOST = "virtual-host";
    static final String USERNAME = "username";
    static final String PASSWORD = "password-file";
    static final String CA = "ca";
    static final String CERTIFICATE = "certificate";
    static final String PRIVATE_KEY = "private-key";
    static final String VERIFY_HOST = "verify-host";
    static final String HEARTBEAT = "heartbeat";
    static final String CONNECTION_NAME = "connection-name";

    private static final String TLS_SCHEME = "amqps";
    private static final int FRAME_BYTES = 131_072; // what RabbitMQ offers by default
    private static final int MOST_BODY_BYTES =
            512 << 20; // the most that RabbitMQ takes, so that none ends the connection
    private static final Duration LONGEST_CONNECT = Duration.ofSeconds(10);

    private final SinkSettings settings;
    private final String name;
    private final boolean tls;
    private final List<Address> addresses = new ArrayList<>();
    private final int connectMillis;

    /**
     * Reads the addresses, and checks that the files can be read. Blocks.
     *
     * @throws ConfigurationException if an address or a file cannot be read, or settings contradict each other
     */
    RabbitmqServers(SinkContext context) {
        this(
                context.settings(),
                "smqtt-rule-" + context.rule() + '-' + context.action(),
                context.config().timeout());
    }

    /**
     * Reads the addresses, and checks that the files can be read. Blocks.
     *
     * @throws ConfigurationException if an address or a file cannot be read, or settings contradict each other
     */
    RabbitmqServers(SourceContext context) {
        this(context.settings(), "smqtt-source-" + context.name(), LONGEST_CONNECT);
    }

    private RabbitmqServers(SinkSettings settings, String name, Duration timeout) {
        this.settings = settings;
        this.name = name;
        List<URI> urls = new ArrayList<>();
        for (String text : settings.text(URL).strip().split("[\\s,]+", -1)) {
            urls.add(url(text));
        }
        tls = isTls(urls.get(0));
        for (URI url : urls) {
            if (isTls(url) != tls) {
                throw settings.problem(URL, "must have only amqp:// or only amqps://");
            }
            int port = url.getPort() >= 0 ? url.getPort() : ConnectionFactory.portOrDefault(-1, tls);
            addresses.add(new Address(host(url), port));
        }
        connectMillis = Math.toIntExact(Math.min(timeout.toMillis(), LONGEST_CONNECT.toMillis()));
        check();
        factory(socket -> {});
    }

    private void check() {
        for (String key : List.of(CA, CERTIFICATE, PRIVATE_KEY, VERIFY_HOST)) {
            if (settings.has(key) && !tls) {
                throw settings.problem(key, "needs amqps://");
            }
        }
        if (settings.has(CERTIFICATE) != settings.has(PRIVATE_KEY)) {
            throw settings.problem(CERTIFICATE, "and private-key must be set together");
        }
        if (settings.has(USERNAME) != settings.has(PASSWORD)) {
            throw settings.problem(USERNAME, "and password-file must be set together");
        }
    }

    private URI url(String text) {
        try {
            URI url = new URI(text);
            boolean known = "amqp".equals(url.getScheme()) || TLS_SCHEME.equals(url.getScheme());
            boolean bare = url.getUserInfo() == null
                    && (url.getPath() == null || url.getPath().isEmpty());
            if (known && bare && url.getHost() != null && url.getQuery() == null) {
                return url;
            }
        } catch (URISyntaxException e) {
            // as for another wrong URL
        }
        throw settings.problem(
                URL,
                "must be amqp://HOST:PORT or amqps://HOST:PORT; user, password and virtual host have keys of their own");
    }

    private static boolean isTls(URI url) {
        return url.getScheme().equals(TLS_SCHEME);
    }

    private static String host(URI url) {
        String host = url.getHost();
        return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    }

    /** The declarations of the keys. */
    static List<SinkSetting> settings() {
        return List.of(
                SinkSetting.text(
                                URL,
                                null,
                                "the server, `amqp://HOST:PORT` or `amqps://HOST:PORT`; several with spaces between them, which are tried in this order")
                        .required(),
                SinkSetting.text(VIRTUAL_HOST, "/", "the virtual host"),
                SinkSetting.text(
                        USERNAME,
                        null,
                        "the user; without it `guest` with the password `guest`, which RabbitMQ takes from its own machine only"),
                SinkSetting.file(PASSWORD, "a file whose first line is the password"),
                SinkSetting.file(
                        CA, "certificates of the authorities that are trusted, in PEM; without it those of Java"),
                SinkSetting.file(CERTIFICATE, "the certificate chain of this client, in PEM"),
                SinkSetting.file(PRIVATE_KEY, "its private key, in PEM (PKCS #8, not encrypted)"),
                SinkSetting.flag(VERIFY_HOST, true, "whether the certificate must be for the host name of the server"),
                SinkSetting.duration(
                        HEARTBEAT,
                        "10s",
                        "1s",
                        "10m",
                        "how often both sides show that they are alive; a connection without a sign of life for about twice this time is replaced"),
                SinkSetting.text(
                        CONNECTION_NAME,
                        null,
                        "the name of the connection in RabbitMQ; by default `smqtt-rule-<rule>-<action>` or `smqtt-source-<name>`"));
    }

    /** The prefix of the names of threads. */
    String name() {
        return name;
    }

    /**
     * Connects and logs in. Blocks until the connection is open, or all addresses have been tried.
     *
     * @param sockets called with each socket before it connects; closing it ends the wait
     * @throws IOException if there is no connection
     * @throws ConfigurationException if a file cannot be read any more
     */
    Connection connect(SocketConfigurator sockets) throws IOException {
        ConnectionFactory factory = factory(sockets);
        String given = settings.textOrNull(CONNECTION_NAME);
        try {
            return factory.newConnection(addresses, given == null ? name : given);
        } catch (TimeoutException e) {
            throw new IOException("no answer to the handshake", e);
        }
    }

    private ConnectionFactory factory(SocketConfigurator sockets) {
        ConnectionFactory factory = new ConnectionFactory();
        factory.setVirtualHost(settings.text(VIRTUAL_HOST));
        String user = settings.textOrNull(USERNAME);
        String password = settings.secret(PASSWORD);
        if (user != null && password != null) {
            factory.setUsername(user);
            factory.setPassword(password);
        }
        factory.setConnectionTimeout(connectMillis);
        factory.setHandshakeTimeout(connectMillis);
        factory.setChannelRpcTimeout(connectMillis);
        factory.setRequestedHeartbeat(
                Math.toIntExact(settings.duration(HEARTBEAT).toSeconds()));
        factory.setRequestedFrameMax(FRAME_BYTES);
        factory.setMaxInboundMessageBodySize(MOST_BODY_BYTES);
        factory.setAutomaticRecoveryEnabled(false); // the action or source connects again
        factory.setTopologyRecoveryEnabled(false);
        factory.setExceptionHandler(new DebugExceptions());
        factory.setThreadFactory(task -> {
            Thread thread = new Thread(task, name + "-connection");
            thread.setDaemon(true);
            return thread;
        });
        SocketConfigurators.Builder configurators =
                SocketConfigurators.builder().disableNagleAlgorithm();
        if (tls) {
            factory.useSslProtocol(tlsContext());
            if (settings.flag(VERIFY_HOST)) {
                configurators.enableHostnameVerification();
            }
        }
        factory.setSocketConfigurator(configurators.add(sockets).build());
        return factory;
    }

    private SSLContext tlsContext() {
        SslContextBuilder builder = SslContextBuilder.forClient().sslProvider(SslProvider.JDK);
        trust(builder, settings.file(CA));
        identify(builder, settings.file(CERTIFICATE), settings.file(PRIVATE_KEY));
        try {
            return ((JdkSslContext) builder.build()).context();
        } catch (SSLException e) {
            throw settings.problem(URL, "cannot be used with TLS: " + e.getMessage());
        }
    }

    private void trust(SslContextBuilder builder, @Nullable Path authorities) {
        try {
            if (authorities != null) {
                builder.trustManager(authorities.toFile());
            }
        } catch (IllegalArgumentException e) {
            throw settings.problem(CA, "has no certificates of authorities in PEM that can be read");
        }
    }

    private void identify(SslContextBuilder builder, @Nullable Path certificate, @Nullable Path key) {
        try {
            if (certificate != null && key != null) {
                builder.keyManager(certificate.toFile(), key.toFile());
            }
        } catch (IllegalArgumentException e) {
            throw settings.problem(
                    CERTIFICATE, "and private-key are not a certificate and its key in PEM that can be read");
        }
    }
}
