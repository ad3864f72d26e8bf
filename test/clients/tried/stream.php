<?php
$header = ['X-API-Key: ' . getenv('KEY'), 'Content-Type: application/json'];
$http = ['method' => 'POST', 'header' => $header, 'content' => getenv('READING'), 'ignore_errors' => true];
echo file_get_contents(getenv('INGEST_URL'), false, stream_context_create(['http' => $http]));
