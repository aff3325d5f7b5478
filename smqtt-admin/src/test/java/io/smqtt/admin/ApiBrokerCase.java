// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the API that have a broker of their own each. */
abstract class ApiBrokerCase {

    @TempDir
    Path directory;

    ApiBroker api;

    @BeforeEach
    final void start() {
        api = new ApiBroker(directory);
    }

    @AfterEach
    final void close() {
        api.close();
    }
}
