// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.topic;

import io.smqtt.admin.JsonFields;
import io.smqtt.config.AutoSubscriptionConfig;
import java.util.LinkedHashMap;
import java.util.Map;

/** The fields of an automatic subscription. */
final class AutoSubscriptionFields implements RuleFields<AutoSubscriptionConfig> {

    private static final String TOPIC = "topic";
    private static final String QOS = "qos";
    private static final String NO_LOCAL = "nl";
    private static final String RETAIN_AS_PUBLISHED = "rap";
    private static final String RETAIN_HANDLING = "rh";

    @Override
    public AutoSubscriptionConfig read(JsonFields fields) {
        return new AutoSubscriptionConfig(
                fields.text(TOPIC),
                number(fields, QOS, 2),
                number(fields, NO_LOCAL, 1) == 1,
                number(fields, RETAIN_AS_PUBLISHED, 1) == 1,
                number(fields, RETAIN_HANDLING, 2));
    }

    @Override
    public String field(String key) {
        return key.equals("no-local") ? NO_LOCAL : key;
    }

    private static int number(JsonFields fields, String name, int most) {
        return fields.has(name) ? (int) fields.number(name, 0, most) : 0;
    }

    @Override
    public Map<String, Object> write(AutoSubscriptionConfig rule) {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put(TOPIC, rule.topic());
        all.put(QOS, rule.qos());
        all.put(NO_LOCAL, rule.noLocal() ? 1 : 0);
        all.put(RETAIN_AS_PUBLISHED, rule.retainAsPublished() ? 1 : 0);
        all.put(RETAIN_HANDLING, rule.retainHandling());
        return all;
    }
}
