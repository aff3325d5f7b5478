// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.redis;

import io.lettuce.core.RedisURI;
import io.netty.handler.ssl.SslContextBuilder;
import io.smqtt.rules.sink.SinkSetting;
import io.smqtt.rules.sink.SinkSettings;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * The addresses of Redis, and how they are connected to.
 *
 * @param name the prefix of the names of threads
 * @param uris the server or the sentinels in one URI, or the nodes of a cluster
 * @param cluster whether they are nodes of a cluster
 * @param authorities a file of trusted authorities in PEM, or null for those of Java
 * @param timeout the maximum time to connect
 */
record RedisServers(
        String name,
        List<RedisURI> uris,
        boolean cluster,
        @Nullable Path authorities,
        Duration timeout) {

    private static final String URL = "url";
    private static final String MODE = "mode";
    private static final String MASTER = "sentinel-master";
    private static final String USERNAME = "username";
    private static final String PASSWORD = "password-file";
    private static final String DATABASE = "database";
    private static final String CA = "ca";
    private static final String SENTINEL = "sentinel";
    private static final String CLUSTER = "cluster";

    /** The declarations of the keys. */
    static List<SinkSetting> settings() {
        return List.of(
                SinkSetting.text(
                                URL,
                                null,
                                "the server, `redis://HOST:PORT` or `rediss://HOST:PORT`; several with spaces between them for the other modes")
                        .required(),
                SinkSetting.choice(
                        MODE,
                        "single",
                        List.of("single", SENTINEL, CLUSTER),
                        "what is at `url`: a `single` server, `sentinel`s, or nodes of a `cluster`"),
                SinkSetting.text(MASTER, null, "the name of the master that sentinels are asked for"),
                SinkSetting.text(USERNAME, null, "the user of Redis; without it the default user"),
                SinkSetting.file(PASSWORD, "a file whose first line is the password of the user"),
                SinkSetting.text(
                        "sentinel-" + USERNAME, null, "the user of the sentinels; without it the default user"),
                SinkSetting.file("sentinel-" + PASSWORD, "a file whose first line is the password of the sentinels"),
                SinkSetting.number(DATABASE, 0, 0, 65_535, "the number of the database"),
                SinkSetting.file(
                        CA, "certificates of the authorities that are trusted, in PEM; without it those of Java"));
    }

    /**
     * Reads the addresses.
     *
     * @param settings the values of {@link #settings()}
     * @param name the prefix of the names of threads
     * @param timeout the maximum time to connect
     * @throws io.smqtt.config.ConfigurationException if an address cannot be read, or settings contradict each other
     */
    static RedisServers of(SinkSettings settings, String name, Duration timeout) {
        List<URI> urls = new ArrayList<>();
        for (String text : settings.text(URL).strip().split("[\\s,]+", -1)) {
            urls.add(url(settings, text));
        }
        boolean tls = isTls(urls.get(0));
        if (urls.stream().anyMatch(url -> isTls(url) != tls)) {
            throw settings.problem(URL, "must have only redis:// or only rediss://");
        }
        String mode = settings.text(MODE);
        check(settings, mode, urls.size(), tls);
        List<RedisURI> uris = new ArrayList<>();
        if (mode.equals(SENTINEL)) {
            uris.add(sentinels(settings, urls, tls));
        } else {
            urls.forEach(url -> uris.add(RedisURI.create(host(url), port(url, RedisURI.DEFAULT_REDIS_PORT))));
        }
        for (RedisURI uri : uris) {
            uri.setSsl(tls);
            uri.setTimeout(timeout);
            uri.setDatabase((int) settings.number(DATABASE));
            authenticate(uri, settings, "");
        }
        return new RedisServers(name, uris, mode.equals(CLUSTER), authorities(settings), timeout);
    }

    private static void check(SinkSettings settings, String mode, int count, boolean tls) {
        boolean sentinel = mode.equals(SENTINEL);
        if (mode.equals("single") && count > 1) {
            throw settings.problem(URL, "has several servers, which need mode: sentinel or cluster");
        }
        if (sentinel != settings.has(MASTER)) {
            throw settings.problem(MASTER, sentinel ? "must be set for mode: sentinel" : "is for mode: sentinel");
        }
        if (mode.equals(CLUSTER) && settings.number(DATABASE) != 0) {
            throw settings.problem(DATABASE, "must be 0 for a cluster, which has no other");
        }
        if (settings.has(CA) && !tls) {
            throw settings.problem(CA, "needs rediss://");
        }
    }

    private static URI url(SinkSettings settings, String text) {
        try {
            URI url = new URI(text);
            boolean known = "redis".equals(url.getScheme()) || "rediss".equals(url.getScheme());
            boolean bare = url.getUserInfo() == null
                    && (url.getPath() == null || url.getPath().length() <= 1);
            if (known && bare && url.getHost() != null && url.getQuery() == null) {
                return url;
            }
        } catch (URISyntaxException e) {
            // as for another wrong URL
        }
        throw settings.problem(
                URL,
                "must be redis://HOST:PORT or rediss://HOST:PORT; user, password and database have keys of their own");
    }

    private static boolean isTls(URI url) {
        return url.getScheme().equals("rediss");
    }

    private static String host(URI url) {
        String host = url.getHost();
        return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    }

    private static int port(URI url, int other) {
        return url.getPort() >= 0 ? url.getPort() : other;
    }

    private static RedisURI sentinels(SinkSettings settings, List<URI> urls, boolean tls) {
        RedisURI.Builder builder = RedisURI.builder().withSentinelMasterId(settings.text(MASTER));
        for (URI url : urls) {
            RedisURI sentinel = RedisURI.create(host(url), port(url, RedisURI.DEFAULT_SENTINEL_PORT));
            sentinel.setSsl(tls);
            authenticate(sentinel, settings, "sentinel-");
            builder.withSentinel(sentinel);
        }
        return builder.build();
    }

    /** Sets user and password of an address from the keys with a prefix. */
    private static void authenticate(RedisURI uri, SinkSettings settings, String prefix) {
        String password = settings.secret(prefix + PASSWORD);
        String user = settings.textOrNull(prefix + USERNAME);
        if (password != null && user != null) {
            uri.setAuthentication(user, password);
        } else if (password != null) {
            uri.setAuthentication((CharSequence) password);
        } else if (user != null) {
            throw settings.problem(prefix + USERNAME, "needs " + prefix + PASSWORD);
        }
    }

    private static @Nullable Path authorities(SinkSettings settings) {
        Path file = settings.file(CA);
        try {
            if (file != null) {
                SslContextBuilder.forClient().trustManager(file.toFile()).build();
            }
            return file;
        } catch (SSLException | IllegalArgumentException e) {
            throw settings.problem(CA, "has no certificates of authorities in PEM that can be read");
        }
    }
}
