// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.PublishProperties;
import io.smqtt.message.UserProperty;
import io.smqtt.session.InProcess;
import io.smqtt.thread.AnyThread;
import java.util.List;

/**
 * The rules that a message has passed, in the user property {@code smqtt-rules}, separated by commas. A rule leaves out a message that it has made
 * itself, also by way of other rules, and one that has passed eight rules. The property counts only in messages of this process and of bridges: that of
 * a client is ignored, which could escape all rules by it.
 */
@AnyThread
public final class RuleTrail {

    /** The name of the user property. */
    public static final String PROPERTY = "smqtt-rules";

    private static final int MOST = 8;

    private RuleTrail() {}

    /**
     * Returns whether a message goes in circles.
     *
     * @param message a message
     * @param rule the name of the rule that it reaches
     * @return true if the rule is to leave it out
     */
    public static boolean ends(ApplicationMessage message, String rule) {
        if (message.properties().isEmpty()) {
            return false;
        }
        String passed = passed(message);
        if (passed.isEmpty()) {
            return false;
        }
        List<String> rules = List.of(passed.split(",", -1));
        return rules.size() >= MOST || rules.contains(rule);
    }

    /**
     * Adds a rule to those that a message has passed.
     *
     * @param target the properties of the message that the rule makes
     * @param origin the message that the rule has read
     * @param rule the name of the rule
     * @return the properties with the trail
     */
    public static PublishProperties add(PublishProperties target, ApplicationMessage origin, String rule) {
        String passed = passed(origin);
        return target.withUserProperty(PROPERTY, passed.isEmpty() ? rule : passed + ',' + rule);
    }

    /**
     * The trail of a message that has passed one rule.
     *
     * @param rule the name of the rule
     * @return properties with the trail alone
     */
    public static PublishProperties of(String rule) {
        return PublishProperties.EMPTY.withUserProperty(PROPERTY, rule);
    }

    private static String passed(ApplicationMessage message) {
        String publisher = message.publisherId();
        if (publisher != null && !InProcess.isClosedToClients(publisher)) {
            return "";
        }
        for (UserProperty property : message.properties().userProperties()) {
            if (property.name().equals(PROPERTY)) {
                return property.value();
            }
        }
        return "";
    }
}
