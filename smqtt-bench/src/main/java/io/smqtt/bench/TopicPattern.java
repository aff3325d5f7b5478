// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

/** A topic with placeholders: {@code %c} the client identifier, {@code %u} the user name, {@code %i} the client's number. */
final class TopicPattern {

    private TopicPattern() {}

    static String fill(String pattern, String clientId, String userName, int number) {
        StringBuilder topic = new StringBuilder(pattern.length() + 16);
        for (int i = 0; i < pattern.length(); i++) {
            char c = pattern.charAt(i);
            char kind = c == '%' && i + 1 < pattern.length() ? pattern.charAt(i + 1) : 0;
            switch (kind) {
                case 'c' -> topic.append(clientId);
                case 'u' -> topic.append(userName);
                case 'i' -> topic.append(number);
                default -> topic.append(c);
            }
            i += kind == 'c' || kind == 'u' || kind == 'i' ? 1 : 0;
        }
        return topic.toString();
    }

    /** Returns the error in a topic name, or an empty string. */
    static String problemOfName(String topic) {
        if (topic.isEmpty()) {
            return "a topic cannot be empty";
        }
        return topic.indexOf('+') >= 0 || topic.indexOf('#') >= 0
                ? "topic " + topic + ": wildcards are for subscriptions, not for publishing"
                : "";
    }

    /** Returns the error in a topic filter, or an empty string. */
    static String problemOfFilter(String filter) {
        if (filter.isEmpty()) {
            return "a topic filter cannot be empty";
        }
        for (int i = 0; i < filter.length(); i++) {
            char c = filter.charAt(i);
            boolean startsLevel = i == 0 || filter.charAt(i - 1) == '/';
            boolean endsLevel = i + 1 == filter.length() || filter.charAt(i + 1) == '/';
            if (c == '#' && !(startsLevel && i + 1 == filter.length()) || c == '+' && !(startsLevel && endsLevel)) {
                return "topic filter " + filter + ": " + c + " must be a level of its own"
                        + (c == '#' ? ", the last one" : "");
            }
        }
        return "";
    }
}
