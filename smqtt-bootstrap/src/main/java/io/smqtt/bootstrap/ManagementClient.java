// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.config.ManagementConfig;
import io.smqtt.config.ManagementTlsConfig;
import io.smqtt.config.SecretMask;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import javax.net.ssl.HttpsURLConnection;
import org.jspecify.annotations.Nullable;

/** Asks the management port of a running broker. Blocks; for one thread. */
final class ManagementClient {

    private static final int PATIENCE_MILLIS = 10_000;
    private static final String MADE_TOKEN = "management.token";
    private static final String API = "/api/";

    private final URI base;
    private final @Nullable Path tokenFile;
    private final @Nullable Path madeToken;
    private final @Nullable Path authorities;
    private final boolean pinned;
    private final boolean other;
    private final @Nullable String authorization;

    private ManagementClient(
            URI base,
            boolean other,
            @Nullable Path tokenFile,
            @Nullable Path madeToken,
            @Nullable Path authorities,
            boolean pinned,
            @Nullable String authorization) {
        this.base = base;
        this.other = other;
        this.tokenFile = tokenFile;
        this.madeToken = madeToken;
        this.authorities = authorities;
        this.pinned = pinned;
        this.authorization = authorization;
    }

    /**
     * The same broker asked by somebody else.
     *
     * @param header the value of the header Authorization, in the place of the token; empty for no header
     */
    ManagementClient as(String header) {
        return new ManagementClient(base, other, tokenFile, madeToken, authorities, pinned, header);
    }

    /**
     * A client of the broker that a configuration describes, or of another one.
     *
     * @param management the configuration
     * @param url where the management port is instead, or null
     * @param tokenFile the file that holds the token instead, or null; with a URL the only one: that broker is not to get the
     *     token of the configuration
     * @param authorities the file of certificates that the port's is verified against instead, or null
     * @param directory what the files are relative to
     * @param data where the broker of the configuration keeps the token that it made itself; taken for what always
     *     needs one, where there is no other
     * @return not connected yet
     * @throws IllegalArgumentException if the URL is none of HTTP; its message is for people
     */
    static ManagementClient of(
            ManagementConfig management,
            @Nullable String url,
            @Nullable String tokenFile,
            @Nullable String authorities,
            Path directory,
            Path data) {
        ManagementTlsConfig tls = management.tls();
        String scheme = tls == null ? "http://" : "https://";
        String base = url == null ? scheme + reachable(management.host()) + ":" + management.port() : url;
        boolean pinned = url == null && authorities == null && tls != null;
        Path trusted = authorities == null ? null : directory.resolve(authorities);
        Path configured = url == null ? management.tokenFile() : null; // nobody else is to get it
        return new ManagementClient(
                parse(base.replaceAll("/+$", "")),
                url != null,
                tokenFile == null ? configured : directory.resolve(tokenFile),
                url == null ? data.resolve(MADE_TOKEN) : null,
                pinned && tls != null ? tls.certificate() : trusted,
                pinned,
                null);
    }

    private static URI parse(String url) {
        String problem = ", but is " + SecretMask.url(url);
        try {
            URI uri = new URI(url);
            String scheme = uri.getScheme() == null ? "" : uri.getScheme().toLowerCase(Locale.ROOT);
            if (uri.getHost() != null && (scheme.equals("http") || scheme.equals("https"))) {
                if (uri.getRawUserInfo() != null) {
                    problem = ", without a user and password: --token-file, --user and --api-key say who asks";
                } else if (uri.getRawQuery() != null || uri.getRawFragment() != null) {
                    problem = ", without ? and #";
                } else {
                    return uri;
                }
            }
        } catch (URISyntaxException e) {
            // told below
        }
        throw new IllegalArgumentException(
                "--url must be like http://127.0.0.1:18083 or https://broker.example.com" + problem);
    }

    /** Where a server that is bound to all addresses can be reached from here. */
    private static String reachable(String bound) {
        String reached = bound;
        try {
            InetAddress address = InetAddress.getByName(bound);
            reached = address.isAnyLocalAddress()
                    ? InetAddress.getLoopbackAddress().getHostAddress()
                    : bound;
        } catch (UnknownHostException e) {
            return bound; // which the connection will tell
        }
        return reached.contains(":") && !reached.startsWith("[") ? "[" + reached + "]" : reached;
    }

    /** Where the broker is asked, for people. */
    String base() {
        return base.toString();
    }

    /**
     * What somebody between here and the broker would see. Blocks while the host's address is looked up.
     *
     * @param secret what is sent in the place of the token, for people; null for the token
     * @return null if no secret goes over a network in the clear, else one sentence for people
     */
    @Nullable
    String warning(@Nullable String secret) {
        if (tokenFile == null && secret == null || !"http".equalsIgnoreCase(base.getScheme())) {
            return null;
        }
        try {
            if (InetAddress.getByName(base.getHost()).isLoopbackAddress()) {
                return null;
            }
        } catch (UnknownHostException e) {
            return null; // it will not be asked
        }
        String sent = secret == null ? "the token" : secret;
        return sent + " goes to " + base + " in the clear; with management.tls there, https keeps it";
    }

    /**
     * Asks.
     *
     * @param path begins with a slash
     * @param accept the type of the answer that is wanted
     * @return the text of the answer
     * @throws IOException if there is no answer, or it is none of success; its message is for people
     */
    String get(String path, String accept) throws IOException {
        return send("GET", path, accept, null);
    }

    /**
     * Asks.
     *
     * @param method of HTTP
     * @param path begins with a slash
     * @param accept the type of the answer that is wanted
     * @param body JSON; null for none
     * @return the text of the answer
     * @throws RefusedException if the answer is none of success
     * @throws TokenFileException if nobody was asked, because the token cannot be read
     * @throws IOException if there is no answer; its message is for people
     */
    String send(String method, String path, String accept, byte @Nullable [] body) throws IOException {
        String token = token(path);
        HttpURLConnection connection = connection(path);
        connection.setRequestMethod(method);
        connection.setRequestProperty("Accept", accept);
        if (authorization != null && !authorization.isEmpty()) {
            connection.setRequestProperty("Authorization", authorization);
        } else if (token != null) {
            connection.setRequestProperty("Authorization", "Bearer " + token);
        }
        if (body != null) {
            connection.setRequestProperty("Content-Type", "application/json");
            connection.setDoOutput(true);
            try (var stream = connection.getOutputStream()) {
                stream.write(body);
            }
        }
        int status = connection.getResponseCode();
        boolean good = status / 100 == 2;
        try (var stream = good ? connection.getInputStream() : connection.getErrorStream()) {
            String answer = stream == null ? "" : new String(stream.readAllBytes(), StandardCharsets.UTF_8);
            if (!good) {
                throw new RefusedException(status, answer.strip());
            }
            return answer;
        }
    }

    private HttpURLConnection connection(String path) throws IOException {
        URL url = URI.create(base + path).toURL();
        if (!(url.openConnection() instanceof HttpURLConnection connection)) {
            throw new IOException("it is not asked by HTTP");
        }
        if (authorities != null && connection instanceof HttpsURLConnection secured) {
            TrustedCertificates.of(authorities).trustedBy(secured, pinned);
        }
        connection.setConnectTimeout(PATIENCE_MILLIS);
        connection.setReadTimeout(PATIENCE_MILLIS);
        connection.setInstanceFollowRedirects(false); // nobody else is to get the token
        return connection;
    }

    /** Whether a broker of {@code --url} is asked without saying who asks. */
    boolean isAnonymous() {
        return other && tokenFile == null && authorization == null;
    }

    /** The token that the broker made is for what needs one: to be looked at it may be another broker's than this one's. */
    private @Nullable String token(String path) throws IOException {
        Path file = tokenFile;
        if (file == null && path.startsWith(API)) {
            file = madeToken;
        }
        if (file == null || authorization != null) {
            return null;
        }
        String token;
        try {
            token = Files.readString(file, StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            throw new TokenFileException(unreadable(file, tokenFile == null, e), e);
        }
        if (token.isEmpty() || !token.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
            throw new TokenFileException(
                    "the token file " + file + " does not hold one line of visible ASCII characters", null);
        }
        return token;
    }

    /** Why there is no token, and what to do, for people. */
    static String unreadable(Path file, boolean made, IOException cause) {
        if (cause instanceof AccessDeniedException) {
            return "the token file " + file + " cannot be read by this user: ask as " + owner(file)
                    + ", or name a file of your own by --token-file";
        }
        if (made && cause instanceof NoSuchFileException) {
            return "the token file " + file
                    + " cannot be read, there is none: the broker makes it when it starts with that data "
                    + "directory, and none with storage.kind: memory; else set management.token-file, or name the file "
                    + "by --token-file";
        }
        String reason = cause instanceof NoSuchFileException ? "there is none" : String.valueOf(cause.getMessage());
        return "the token file " + file + " cannot be read: " + reason
                + "; management.token-file or --token-file names it";
    }

    /** The user who may read it, as far as this one may know. */
    private static String owner(Path file) {
        Path folder = file.toAbsolutePath().getParent();
        for (Path known : folder == null ? List.of(file) : List.of(file, folder)) {
            try {
                return Files.getOwner(known).getName();
            } catch (IOException | UnsupportedOperationException e) {
                // the folder's is the same where the broker made the file
            }
        }
        return "the user that the broker runs as";
    }
}
