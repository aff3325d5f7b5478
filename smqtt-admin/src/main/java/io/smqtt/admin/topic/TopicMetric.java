// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.topic;

import io.smqtt.admin.JsonFields;
import io.smqtt.admin.object.ObjectFormat;
import io.smqtt.topic.TopicFilter;
import java.time.Instant;
import java.util.Map;

/**
 * A filter whose messages are counted, as a live object that has the filter as its identifier.
 *
 * @param createdAt when it was added
 */
record TopicMetric(Instant createdAt) {

    private static final long MAX_SECOND = 253_402_300_799L; // of the year 9999
    private static final String CREATED = "create_time";

    /** The form in the store and in exports. */
    static final ObjectFormat<TopicMetric> FORMAT = new ObjectFormat<>() {

        @Override
        public TopicMetric read(String id, JsonFields fields) {
            TopicFilter.of(id);
            return new TopicMetric(Instant.ofEpochSecond(fields.number(CREATED, 0, MAX_SECOND)));
        }

        @Override
        public Map<String, Object> write(TopicMetric value) {
            return Map.of(CREATED, value.createdAt().getEpochSecond());
        }
    };
}
