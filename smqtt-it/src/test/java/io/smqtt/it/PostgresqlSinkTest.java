// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.io.IOException;
import org.junit.jupiter.api.BeforeAll;

class PostgresqlSinkTest extends JdbcSinkSuite {

    PostgresqlSinkTest() {
        super("postgresql", "LOCK TABLE readings IN ACCESS EXCLUSIVE MODE");
    }

    @BeforeAll
    static void start() throws IOException {
        database = DatabaseServer.postgresql();
        table("serial PRIMARY KEY");
    }

    @Override
    String typed() {
        return "CREATE TABLE typed (a text, b bigint, c double precision, d boolean, e jsonb, f bytea, g timestamptz, h numeric)";
    }
}
