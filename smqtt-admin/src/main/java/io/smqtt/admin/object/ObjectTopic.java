// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.object;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The topic of an object: {@code $smqtt/object/<kind>/<identifier>}, with the identifier percent-encoded.
 *
 * @param kind the name of the kind
 * @param id the identifier
 */
record ObjectTopic(String kind, String id) {

    /** The topics of all objects. */
    static final String ROOT = "$smqtt/object/";

    /** Maximum length of an identifier, in UTF-16 units. */
    private static final int MAX_ID = 1_024;

    /** Reads a topic; null if it is none of an object. */
    static @Nullable ObjectTopic parse(String topic) {
        int slash = topic.startsWith(ROOT) ? topic.indexOf('/', ROOT.length()) : -1;
        if (slash < 0 || slash + 1 == topic.length() || topic.indexOf('/', slash + 1) >= 0) {
            return null;
        }
        try {
            return new ObjectTopic(
                    topic.substring(ROOT.length(), slash),
                    URLDecoder.decode(topic.substring(slash + 1), StandardCharsets.UTF_8));
        } catch (IllegalArgumentException e) { // written by another version
            return null;
        }
    }

    /** The first characters of the topics of a kind. */
    static String prefix(String kind) {
        return ROOT + kind + '/';
    }

    String text() {
        return prefix(kind) + URLEncoder.encode(id, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /** Whether an identifier can be used. */
    static boolean isUsable(String id) {
        return !id.isEmpty()
                && id.length() <= MAX_ID
                && id.equals(new String(id.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8));
    }
}
