// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import io.smqtt.thread.AnyThread;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A pattern for the client identifiers of a user: text that contains the placeholder {@code ${user}} once, and may end with {@code *}
 * for any characters. Immutable.
 *
 * @param before the text before the user name
 * @param after the text after the user name
 * @param prefix whether any characters may follow
 */
@AnyThread
public record ClientIdPattern(String before, String after, boolean prefix) {

    private static final String USER = "${user}";
    private static final Pattern PLACEHOLDER = Pattern.compile("\\$\\{[^}]*}?");

    /**
     * Parses a pattern.
     *
     * @param key the configuration key, for the exception
     * @param text the pattern
     * @return the pattern
     * @throws ConfigurationException if a placeholder is unknown, {@code ${user}} is not contained exactly once, or a * is not at the
     *     end
     */
    static ClientIdPattern parse(String key, String text) {
        Matcher placeholders = PLACEHOLDER.matcher(text);
        int users = 0;
        while (placeholders.find()) {
            String placeholder = placeholders.group();
            Check.that(
                    placeholder.equals(USER), key, "has the unknown placeholder " + placeholder + "; known is " + USER);
            users++;
        }
        Check.that(users == 1, key, "must hold " + USER + " once, as in \"" + USER + "\" or \"" + USER + "-*\"");
        int at = text.indexOf(USER);
        String after = text.substring(at + USER.length());
        boolean prefix = after.endsWith("*");
        String fixed = prefix ? after.substring(0, after.length() - 1) : after;
        String before = text.substring(0, at);
        Check.that(before.indexOf('*') < 0 && fixed.indexOf('*') < 0, key, "may have * only at its end");
        return new ClientIdPattern(before, fixed, prefix);
    }

    /**
     * Whether a client identifier is reserved for a user.
     *
     * @param clientId the client identifier
     * @param userName the user
     * @return true if the user may use it
     */
    public boolean isOf(String clientId, String userName) {
        int end = before.length() + userName.length();
        return clientId.startsWith(before)
                && clientId.startsWith(userName, before.length())
                && clientId.startsWith(after, end)
                && (prefix || clientId.length() == end + after.length());
    }

    /**
     * Whether a client identifier is reserved for some user.
     *
     * @param clientId the client identifier
     * @return true if a client without a user must not use it
     */
    public boolean isReserved(String clientId) {
        int first = before.length() + 1; // a user name has at least one character
        if (!clientId.startsWith(before) || clientId.length() < first + after.length()) {
            return false;
        }
        return prefix ? clientId.indexOf(after, first) >= 0 : clientId.endsWith(after);
    }
}
