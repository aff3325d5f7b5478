// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.jwt;

import com.nimbusds.jose.JWSAlgorithm;
import io.smqtt.access.backend.AccessBackend;
import io.smqtt.access.backend.AccessBackendFactory;
import io.smqtt.access.backend.Authorities;
import io.smqtt.access.backend.BackendContext;
import io.smqtt.access.backend.BackendSetting;
import io.smqtt.access.backend.BackendSettings;
import io.smqtt.access.backend.Template;
import io.smqtt.access.http.HttpFetch;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** Makes backends of the type {@code jwt}. */
public final class JwtBackendFactory implements AccessBackendFactory {

    private static final List<String> KEYS = List.of("secret", "secret-file", "public-key", "endpoint");
    private static final int THREAD_IDLE_SECONDS = 60;
    private static final List<String> ALGORITHMS = List.of(
            "HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512",
            "EdDSA", "Ed25519");

    /** Creates the factory, for {@link java.util.ServiceLoader}. */
    public JwtBackendFactory() {}

    @Override
    public String type() {
        return "jwt";
    }

    @Override
    public List<BackendSetting> settings() {
        return List.of(
                BackendSetting.choice(
                        "from",
                        "password",
                        List.of("password", "username"),
                        "where the token is: `password` or `username`"),
                BackendSetting.text("secret", "the secret of tokens with an HMAC, of at least 32 bytes")
                        .secret(),
                BackendSetting.file("secret-file", "a file with the secret"),
                BackendSetting.flag("secret-base64", false, "whether the secret is written in Base64"),
                BackendSetting.file("public-key", "a file with the public keys or certificates of the issuer, in PEM"),
                BackendSetting.text("endpoint", "the URL of a JSON Web Key Set with the public keys of the issuer"),
                BackendSetting.duration(
                        "refresh-interval",
                        "5m",
                        "1s",
                        "1d",
                        "time after which the keys of `endpoint` are fetched again, 10 % shorter or longer"),
                BackendSetting.file(
                        "ca",
                        "certificates of the authorities that are trusted for `endpoint`, in PEM; without it those of Java"),
                BackendSetting.list(
                        "algorithms", "the algorithms that are accepted; by default all that fit the kind of the key"),
                BackendSetting.duration(
                        "leeway", "10s", "0s", "5m", "how much the clocks of issuer and broker may differ"),
                BackendSetting.entries(
                        "verify-claims",
                        "claims that a token must have, with their values, which may have placeholders"),
                BackendSetting.text("acl-claim", "acl", "the name of the claim with the access rules"),
                BackendSetting.flag(
                        "disconnect-after-expire", true, "whether a client is disconnected when its token expires"));
    }

    @Override
    public AccessBackend open(BackendSettings settings, BackendContext context) {
        List<String> given = KEYS.stream().filter(settings::has).toList();
        if (given.size() != 1) {
            throw settings.problem(
                    given.isEmpty() ? "secret" : given.get(1),
                    given.isEmpty()
                            ? "must be set, or one of secret-file, public-key, endpoint"
                            : "cannot be set together with " + given.get(0));
        }
        if (settings.has("secret-base64") && !given.get(0).startsWith("secret")) {
            throw settings.problem("secret-base64", "needs secret or secret-file");
        }
        for (String key : List.of("refresh-interval", "ca")) {
            if (settings.has(key) && !settings.has("endpoint")) {
                throw settings.problem(key, "needs endpoint");
            }
        }
        JwtBackend.Policy policy = new JwtBackend.Policy(
                settings.text("from").equals("username"),
                settings.duration("leeway"),
                settings.templates("verify-claims", Template.Scope.RULES),
                settings.text("acl-claim"),
                settings.flag("disconnect-after-expire"));
        boolean fast = given.get(0).startsWith("secret"); // an HMAC takes microseconds
        return new JwtBackend(
                context.name(),
                source(settings, given.get(0), context),
                policy,
                InstantSource.system(),
                fast ? Schedulers.immediate() : threads(context));
    }

    /** Half of the processors, so that checks of many tokens leave some to the clients that are connected. */
    private static Scheduler threads(BackendContext context) {
        int threads = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
        int waiting = Math.max(1, context.config().maxWaiting() / threads);
        return Schedulers.newBoundedElastic(
                threads, waiting, "smqtt-access-" + context.name(), THREAD_IDLE_SECONDS, true);
    }

    private static KeySource source(BackendSettings settings, String key, BackendContext context) {
        return switch (key) {
            case "endpoint" -> fetched(settings, context);
            case "secret" -> KeySource.fixed(keys(settings, key));
            default -> new FileKeys(Objects.requireNonNull(settings.file(key)), () -> keys(settings, key));
        };
    }

    /** The keys of the configuration or of a file. */
    private static List<VerificationKey> keys(BackendSettings settings, String key) {
        try {
            List<VerificationKey> keys = key.equals("public-key")
                    ? PublicKeyFile.read(Objects.requireNonNull(settings.file(key)))
                    : List.of(VerificationKey.secret(secret(settings, key)));
            return allowed(settings, keys);
        } catch (IllegalArgumentException e) {
            throw settings.problem(key, String.valueOf(e.getMessage()));
        }
    }

    private static KeySource fetched(BackendSettings settings, BackendContext context) {
        Set<JWSAlgorithm> algorithms = algorithms(settings);
        if (algorithms.stream().anyMatch(algorithm -> !VerificationKey.isPublic(algorithm))) {
            throw settings.problem("algorithms", "has one of a secret, for which there is no key");
        }
        String url = url(settings);
        if (settings.has("ca") && !url.toLowerCase(Locale.ROOT).startsWith("https:")) {
            throw settings.problem("ca", "needs an endpoint that begins with https://");
        }
        HttpFetch fetch = new HttpFetch(context, url, Authorities.of(settings, "ca"));
        FetchedKeys.Server server = new FetchedKeys.Server() {
            @Override
            public Mono<String> body() {
                return fetch.body();
            }

            @Override
            public void close() {
                fetch.close();
            }
        };
        return new FetchedKeys(
                context,
                server,
                algorithms,
                settings.duration("refresh-interval"),
                (task, delay) -> Schedulers.parallel().schedule(task, delay.toMillis(), TimeUnit.MILLISECONDS));
    }

    private static String url(BackendSettings settings) {
        String text = settings.text("endpoint");
        try {
            URI url = new URI(text);
            boolean http = "http".equalsIgnoreCase(url.getScheme()) || "https".equalsIgnoreCase(url.getScheme());
            if (http && url.getHost() != null && url.getUserInfo() == null) {
                return text;
            }
        } catch (URISyntaxException e) {
            // as for another wrong URL
        }
        throw settings.problem(
                "endpoint", "must be a URL such as https://id.example/jwks.json, without user and password");
    }

    private static byte[] secret(BackendSettings settings, String key) {
        Path file = key.equals("secret-file") ? settings.file(key) : null;
        String text =
                file == null ? settings.text(key) : PublicKeyFile.text(file).strip();
        if (!settings.flag("secret-base64")) {
            return text.getBytes(StandardCharsets.UTF_8);
        }
        try {
            return Base64.getDecoder().decode(text);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("is no Base64");
        }
    }

    /** The keys for the algorithms of the configuration. Each algorithm must have a key. */
    private static List<VerificationKey> allowed(BackendSettings settings, List<VerificationKey> keys) {
        Set<JWSAlgorithm> algorithms = algorithms(settings);
        if (algorithms.isEmpty()) {
            return keys;
        }
        Set<JWSAlgorithm> possible = new HashSet<>();
        List<VerificationKey> allowed = new ArrayList<>();
        for (VerificationKey key : keys) {
            possible.addAll(key.algorithms());
            allowed.add(key.only(algorithms));
        }
        for (JWSAlgorithm algorithm : algorithms) {
            if (!possible.contains(algorithm)) {
                throw settings.problem("algorithms", "has " + algorithm + ", for which there is no key");
            }
        }
        return allowed;
    }

    private static Set<JWSAlgorithm> algorithms(BackendSettings settings) {
        Set<JWSAlgorithm> algorithms = new HashSet<>();
        for (String name : settings.list("algorithms")) {
            if (!ALGORITHMS.contains(name)) {
                throw settings.problem("algorithms", "must have only " + String.join(", ", ALGORITHMS));
            }
            algorithms.add(JWSAlgorithm.parse(name));
        }
        return algorithms;
    }
}
