-- The PostgreSQL image runs this once, as the owner, when it creates the database.
\getenv password READER_PASSWORD

create schema dossier;
create role reader login password :'password';
grant usage on schema dossier to reader;
alter default privileges in schema dossier grant select on tables to reader;
