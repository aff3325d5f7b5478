// SPDX-License-Identifier: Apache-2.0
package io.smqtt.topic;

/**
 * The filter of a shared subscription, {@code $share/{ShareName}/{filter}} (MQTT 5.0, section 4.8.2).
 *
 * @param shareName at least one character, without /, + and #
 * @param filter the shared topic filter
 */
public record SharedFilter(String shareName, TopicFilter filter) {

    /** The prefix of every shared filter. */
    public static final String PREFIX = "$share/";

    /**
     * Checks the share name.
     *
     * @throws InvalidTopicException if the share name is empty or contains /, + or #
     */
    public SharedFilter {
        boolean valid = !shareName.isEmpty() // [MQTT-4.8.2-1]
                && shareName.indexOf('/') < 0
                && shareName.indexOf('+') < 0
                && shareName.indexOf('#') < 0
                && shareName.indexOf(0) < 0;
        if (!valid) {
            throw new InvalidTopicException("a share name must have at least one character and no /, + or #");
        }
    }

    /**
     * Whether a text requests a shared subscription, well-formed or not.
     *
     * @param text the filter of a SUBSCRIBE
     * @return true if the text is to be parsed by {@link #of(String)}
     */
    public static boolean isShared(String text) {
        return text.startsWith(PREFIX) || text.equals("$share");
    }

    /**
     * Parses {@code $share/{ShareName}/{filter}}.
     *
     * @param text the whole text
     * @return the shared filter
     * @throws InvalidTopicException if a part is missing or not valid
     */
    public static SharedFilter of(String text) {
        int end = text.startsWith(PREFIX) ? text.indexOf('/', PREFIX.length()) : -1;
        if (end < 0) { // [MQTT-4.8.2-2]
            throw new InvalidTopicException("a shared filter has the form $share/name/filter");
        }
        return new SharedFilter(text.substring(PREFIX.length(), end), TopicFilter.of(text.substring(end + 1)));
    }

    @Override
    public String toString() {
        return PREFIX + shareName + '/' + filter;
    }
}
