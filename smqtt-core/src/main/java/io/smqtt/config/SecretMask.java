// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import io.smqtt.thread.AnyThread;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Masks secrets in text that is shown: messages, logs, printed configurations. All parts that show text of a file, a variable, a flag or
 * a parser's exception use it. In doubt it masks: a key is shown as far as it looks like a name, a value only if its key does not
 * suggest a secret.
 */
@AnyThread
public final class SecretMask {

    /** Replaces a value that must not be shown. */
    public static final String MASK = "***";

    private static final int MAX_KEY_CHARS = 120;

    /** Parts of keys that suggest a secret, also inside of other words ({@code keystorepw}, {@code dbpassword}). */
    private static final Set<String> PARTS = Set.of(
            "passw",
            "passphrase",
            "passcode",
            "pwd",
            "secret",
            "token",
            "credential",
            "apikey",
            "authkey",
            "privatekey",
            "keystore",
            "truststore",
            "storepass",
            "keypass",
            "cookie",
            "auth_opt");

    /** Words that suggest a secret only as whole words of a key. */
    private static final Set<String> WORDS = Set.of(
            "pass",
            "pw",
            "key",
            "keys",
            "psk",
            "auth",
            "authorization",
            "bearer",
            "jwt",
            "headers",
            "salt",
            "pin",
            "dsn");

    /** Last words of keys whose value is the place or form of a secret, which may be shown. */
    private static final Set<String> PLACES =
            Set.of("file", "path", "dir", "directory", "location", "position", "encoding");

    private static final Pattern BETWEEN_WORDS = Pattern.compile("[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])");
    private static final Pattern ASSIGNMENT =
            Pattern.compile("([A-Za-z][A-Za-z0-9_.-]*)(\"?'?\\s*[=:]\\s*)(\"[^\"]*\"|'[^']*'|\\S+)");
    private static final Pattern FORM = Pattern.compile("VALUE\\W*"); // KEY=VALUE in the help text
    private static final Pattern USER_INFO = Pattern.compile("(?<=://)[^/\\s@]*@");
    private static final Pattern PARAMETER = Pattern.compile("([?&])([^=&#\\s]+)=[^&#\\s]*");

    /** One or more placeholders such as {@code ${clientid}}, which stand for values that are not in the text. */
    private static final Pattern PLACEHOLDERS =
            Pattern.compile("\\$\\{[\\w.\\[\\]-]+}(?:[/:._-]?\\$\\{[\\w.\\[\\]-]+})*");

    private SecretMask() {}

    /**
     * Whether a value may be a secret, judged by the name of its key.
     *
     * @param key a key of any broker's file, an environment variable or a flag
     * @return false also if the value is the place of a file
     */
    public static boolean mayBeSecret(String key) {
        String[] words = BETWEEN_WORDS.split(key, -1);
        if (words.length > 0 && PLACES.contains(words[words.length - 1].toLowerCase(Locale.ROOT))) {
            return false;
        }
        if (hasPart(key)) {
            return true;
        }
        for (String word : words) {
            if (WORDS.contains(word.toLowerCase(Locale.ROOT))) {
                return true;
            }
        }
        return false;
    }

    /**
     * Shows a key. Text after the name, as in {@code password=value} or {@code "password":"value"}, is removed.
     *
     * @param text the text that was read as a key
     * @return its name of at most 120 characters; with an ellipsis if something was removed
     */
    public static String key(String text) {
        int begin = !text.isEmpty() && (text.charAt(0) == '"' || text.charAt(0) == '\'') ? 1 : 0;
        int end = begin;
        while (end < text.length() && end - begin < MAX_KEY_CHARS && isNamePart(text.charAt(end))) {
            end++;
        }
        String name = text.substring(begin, end);
        int dot = name.indexOf('.');
        while (dot >= 0 && !hasPart(name.substring(0, dot))) { // a key below a secret may contain the secret itself
            dot = name.indexOf('.', dot + 1);
        }
        boolean whole = end == text.length() && begin == 0 && dot < 0;
        return whole ? text : (dot < 0 ? name : name.substring(0, dot)) + "…";
    }

    private static boolean hasPart(String key) {
        String lower = key.toLowerCase(Locale.ROOT);
        return PARTS.stream().anyMatch(lower::contains);
    }

    private static boolean isNamePart(char c) {
        return Character.isLetterOrDigit(c) || "._-[]<>$*".indexOf(c) >= 0;
    }

    /**
     * Shows the value of a key.
     *
     * @param key its key
     * @param value its text, or null
     * @return {@link #MASK} if it may be a secret and is more than placeholders; a URL without user, password and secret parameters; empty for null
     */
    public static String value(String key, @Nullable String value) {
        if (value == null || value.isEmpty()) {
            return "";
        }
        return mayBeSecret(key) && !PLACEHOLDERS.matcher(value).matches() ? MASK : text(value);
    }

    /**
     * Shows a path. A text that is no path, such as a private key instead of its file name, is masked.
     *
     * @param path the text that was read as a path
     * @return the path, or {@link #MASK}
     */
    public static String path(Path path) {
        String text = path.toString();
        boolean plain = !text.contains("-----") && text.chars().noneMatch(c -> c < ' ');
        return plain ? text : MASK;
    }

    /**
     * Shows a URL.
     *
     * @param url a text that may be a URL
     * @return scheme, host, port and path; {@link #MASK} if it is no URL
     */
    public static String url(String url) {
        try {
            URI uri = new URI(url);
            if (uri.getHost() != null) {
                String port = uri.getPort() < 0 ? "" : ":" + uri.getPort();
                String path = uri.getRawPath() == null ? "" : uri.getRawPath();
                return uri.getScheme() + "://" + uri.getHost() + port + path;
            }
            return uri.getRawAuthority() == null && uri.getRawSchemeSpecificPart() != null && url.indexOf('@') < 0
                    ? text(url)
                    : MASK;
        } catch (URISyntaxException e) {
            return MASK;
        }
    }

    /**
     * Shows a text of another component, such as the message of a parser's exception. Users and passwords in URLs, secret parameters, and
     * values of keys that suggest a secret are masked.
     *
     * @param foreign any text
     * @return the text with {@link #MASK} in place of secrets
     */
    public static String text(String foreign) {
        String shown = USER_INFO.matcher(foreign).replaceAll(MASK + "@");
        shown = PARAMETER
                .matcher(shown)
                .replaceAll(found -> found.group(1) + Matcher.quoteReplacement(found.group(2)) + "="
                        + (mayBeSecret(found.group(2))
                                ? MASK
                                : Matcher.quoteReplacement(
                                        found.group().substring(found.group().indexOf('=') + 1))));
        return ASSIGNMENT
                .matcher(shown)
                .replaceAll(found -> Matcher.quoteReplacement(
                        mayBeSecret(found.group(1))
                                        && !FORM.matcher(found.group(3)).matches()
                                ? found.group(1) + found.group(2) + MASK
                                : found.group()));
    }
}
