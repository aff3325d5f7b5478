// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.ldap;

import com.unboundid.ldap.sdk.Entry;
import io.smqtt.access.backend.AccessRule;
import io.smqtt.access.backend.AccessRules;
import io.smqtt.access.backend.BackendSettings;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The attributes of an entry that have access rules. A directory keeps no order of the values of an attribute, so of several values with rules those that deny
 * come first; topics that are allowed come last.
 *
 * @param rule the attribute with rules in JSON, an object or a list in each value
 * @param publish the attribute with topics to which the client may publish
 * @param subscribe the attribute with topics to which the client may subscribe
 * @param all the attribute with topics for both
 */
record EntryRules(String rule, String publish, String subscribe, String all) {

    static EntryRules of(BackendSettings settings) {
        return new EntryRules(
                settings.text("rule-attribute"),
                settings.text("publish-attribute"),
                settings.text("subscribe-attribute"),
                settings.text("all-attribute"));
    }

    /** The names of the attributes. */
    String[] attributes() {
        return new String[] {rule, publish, subscribe, all};
    }

    /**
     * Reads the rules of an entry.
     *
     * @throws LdapFailedException if one cannot be read
     */
    List<AccessRule> read(Entry entry) {
        try {
            List<AccessRule> rules = new ArrayList<>();
            String[] texts = values(entry, rule);
            for (String text : texts) {
                rules.addAll(
                        text.stripLeading().startsWith("[") ? AccessRules.parse(text) : AccessRules.parseOne(text));
            }
            if (texts.length > 1) {
                rules.sort(Comparator.comparing(one -> one.rule().allow())); // false first; stable
            }
            allow(rules, "publish", values(entry, publish));
            allow(rules, "subscribe", values(entry, subscribe));
            allow(rules, "all", values(entry, all));
            return rules;
        } catch (IllegalArgumentException e) {
            throw new LdapFailedException("an entry with rules that cannot be used: " + e.getMessage());
        }
    }

    private static void allow(List<AccessRule> rules, String action, String[] topics) {
        for (String topic : topics) {
            rules.add(AccessRules.of("allow", action, topic, null, null, null));
        }
    }

    private static String[] values(Entry entry, String attribute) {
        String @Nullable [] values = entry.getAttributeValues(attribute);
        return values == null ? new String[0] : values;
    }
}
