// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.io.IOException;
import org.junit.jupiter.api.BeforeAll;

class MariadbSinkTest extends JdbcSinkSuite {

    MariadbSinkTest() {
        super("mariadb", "LOCK TABLES readings WRITE");
    }

    @BeforeAll
    static void start() throws IOException {
        database = DatabaseServer.mariadb();
        table("int AUTO_INCREMENT PRIMARY KEY");
    }

    @Override
    String typed() {
        return "CREATE TABLE typed (a varchar(200), b bigint, c double, d boolean, e json, f blob, g datetime, h decimal(30))";
    }
}
