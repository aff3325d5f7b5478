// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.redis;

import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import io.smqtt.access.backend.Authorities;
import io.smqtt.access.backend.BackendContext;
import io.smqtt.access.backend.BackendSecret;
import io.smqtt.access.backend.BackendSettings;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/**
 * The addresses of Redis, and how they are connected to.
 *
 * @param name the prefix of the names of threads
 * @param uris the server or the sentinels in one URI, or the nodes of a cluster
 * @param cluster whether they are nodes of a cluster
 * @param authorities the trusted authorities, or null for those of Java
 * @param timeout the maximum time to connect
 * @param maxWaiting the maximum number of commands that wait for an answer
 * @param passwords those that new connections use
 */
record RedisServers(
        String name,
        List<RedisURI> uris,
        boolean cluster,
        @Nullable TrustManagerFactory authorities,
        Duration timeout,
        int maxWaiting,
        List<BackendSecret> passwords) {

    private static final String KEY = "url";
    private static final int COMMANDS_OF_A_REQUEST = 16;

    /**
     * Reads the addresses.
     *
     * @param settings the settings of a backend
     * @param context its name and limits
     * @param database the number of the database
     * @throws io.smqtt.config.ConfigurationException if an address cannot be read, or settings contradict each other
     */
    static RedisServers of(BackendSettings settings, BackendContext context, int database) {
        List<URI> urls = new ArrayList<>();
        for (String text : settings.list(KEY)) {
            urls.add(url(settings, text));
        }
        boolean tls = isTls(urls.get(0));
        if (urls.stream().anyMatch(url -> isTls(url) != tls)) {
            throw settings.problem(KEY, "must have only redis:// or only rediss://");
        }
        String mode = settings.text("mode");
        check(settings, mode, urls.size(), database, tls);
        BackendSecret password = password(settings, "");
        BackendSecret ofSentinels = password(settings, "sentinel-");
        List<BackendSecret> secrets = new ArrayList<>();
        if (password != null) {
            secrets.add(password);
        }
        if (ofSentinels != null) {
            secrets.add(ofSentinels);
        }
        Duration timeout = context.config().timeout();
        List<RedisURI> uris = new ArrayList<>();
        if (mode.equals("sentinel")) {
            uris.add(sentinels(settings, urls, tls, ofSentinels));
        } else {
            urls.forEach(url -> uris.add(RedisURI.create(host(url), port(url, RedisURI.DEFAULT_REDIS_PORT))));
        }
        for (RedisURI uri : uris) {
            uri.setSsl(tls);
            uri.setTimeout(timeout);
            uri.setDatabase(database);
            authenticate(uri, settings.textOrNull("username"), password);
        }
        return new RedisServers(
                "smqtt-access-" + context.name(),
                uris,
                mode.equals("cluster"),
                Authorities.of(settings, "ca"),
                timeout,
                context.config().maxConcurrent() * COMMANDS_OF_A_REQUEST,
                secrets);
    }

    private static void check(BackendSettings settings, String mode, int count, int database, boolean tls) {
        boolean sentinel = mode.equals("sentinel");
        if (mode.equals("single") && count > 1) {
            throw settings.problem(KEY, "has several servers, which need mode: sentinel or cluster");
        }
        if (sentinel != settings.has("sentinel-master")) {
            throw settings.problem(
                    "sentinel-master", sentinel ? "must be set for mode: sentinel" : "is for mode: sentinel");
        }
        for (String key : List.of("sentinel-username", "sentinel-password", "sentinel-password-file")) {
            if (!sentinel && settings.has(key)) {
                throw settings.problem(key, "is for mode: sentinel");
            }
        }
        if (mode.equals("cluster") && database != 0) {
            throw settings.problem("database", "must be 0 for a cluster, which has no other");
        }
        if (settings.has("ca") && !tls) {
            throw settings.problem("ca", "needs rediss://");
        }
    }

    private static URI url(BackendSettings settings, String text) {
        try {
            URI url = new URI(text.strip());
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
                KEY,
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

    private static RedisURI sentinels(
            BackendSettings settings, List<URI> urls, boolean tls, @Nullable BackendSecret password) {
        RedisURI.Builder builder = RedisURI.builder().withSentinelMasterId(settings.text("sentinel-master"));
        for (URI url : urls) {
            RedisURI sentinel = RedisURI.create(host(url), port(url, RedisURI.DEFAULT_SENTINEL_PORT));
            sentinel.setSsl(tls);
            authenticate(sentinel, settings.textOrNull("sentinel-username"), password);
            builder.withSentinel(sentinel);
        }
        return builder.build();
    }

    /** The password of the keys with a prefix, if a user has one. */
    private static @Nullable BackendSecret password(BackendSettings settings, String prefix) {
        BackendSecret password = BackendSecret.of(settings, prefix + "password");
        if (password == null && settings.has(prefix + "username")) {
            throw settings.problem(prefix + "username", "needs " + prefix + "password or " + prefix + "password-file");
        }
        return password;
    }

    /** Sets user and password of an address, which each connection asks for. */
    private static void authenticate(RedisURI uri, @Nullable String user, @Nullable BackendSecret password) {
        if (password != null) {
            uri.setCredentialsProvider(
                    RedisCredentialsProvider.from(() -> RedisCredentials.just(user, password.text())));
        }
    }
}
