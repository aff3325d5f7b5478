// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import io.smqtt.rules.sink.SinkPage;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class SinkPageTest {

    @Test
    void pageHasTheKeysOfEachType() throws IOException {
        SinkPage.assertHasKeysOf(SinkTypes.find().values());
    }
}
